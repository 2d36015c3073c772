// `orrery list models`, `orrery show config`, and what is said where no model is chosen.

import assert from "node:assert/strict";
import { join } from "node:path";
import { testProject } from "./_project.ts";

const SETTINGS = `models:
  default: fast
  aliases: { fast: openai/gpt-5-mini, local: ollama/qwen3 }
  fallback: { fast: [local] }
  providers:
    ollama: { type: openai-compatible, baseURL: "http://127.0.0.1:11434/v1", headers: { X-Key: "hidden-key-1234" } }
`;
const KEY = "sk-test-0123456789";

/** A project whose settings are those of its user, so that nothing has to be accepted. */
async function withUserSettings() {
  const project = await testProject({ "orrery.yaml": "limits: { turns: 3 }\n" });
  const folder = join(project.env.XDG_CONFIG_HOME ?? "", "orrery");
  await Deno.mkdir(folder, { recursive: true });
  await Deno.writeTextFile(join(folder, "config.yaml"), SETTINGS);
  return project;
}

Deno.test("list models: default, aliases, providers and their keys; nothing is contacted and no key is shown", async () => {
  await using project = await withUserSettings();
  const env = { OPENAI_API_KEY: KEY };
  const page = await project.run(["list", "models"], { env });
  assert.deepEqual([page.code, page.stderr], [0, ""]);
  assert.match(page.stdout, /^Default: fast \(models\.default\)\n\nAliases\nALIAS +MODEL +FALLBACK\n/);
  assert.match(page.stdout, /\nfast +openai\/gpt-5-mini +local\n/);
  assert.match(page.stdout, /\nopenai +openai +set +https:\/\/api\.openai\.com\/v1\n/);
  assert.match(page.stdout, /\nanthropic +anthropic +missing: ANTHROPIC_API_KEY +https:/);
  assert.match(page.stdout, /\nollama +openai-compatible +none needed +http:\/\/127\.0\.0\.1:11434\/v1\n/);
  assert.match(page.stdout, /\nscript\/echo +answers by fixed rules\n/);
  const chosen = await project.run(["list", "models"], { env: { ...env, ORRERY_MODEL: "script/echo" } });
  assert.match(chosen.stdout, /^Default: script\/echo \(ORRERY_MODEL\)\n/);

  const json = JSON.parse((await project.run(["list", "models", "--json"], { env })).stdout);
  assert.deepEqual([json.default, json.chosen], ["fast", "fast"]);
  const names = (await project.run(["list", "models", "--names"], { env })).stdout.split("\n");
  assert.ok(names.includes("fast") && names.includes("local") && names.includes("script/echo"));
  assert.ok(names.some((name) => name.startsWith("openai/")), "the key of openai is set");
  assert.ok(!names.some((name) => name.startsWith("anthropic/")), "that of anthropic is not");
  assert.ok(!page.stdout.includes(KEY) && !JSON.stringify(json).includes("hidden-key"));
});

Deno.test("show config: each setting, where it comes from, and no secret", async () => {
  await using project = await withUserSettings();
  const env = { OPENAI_API_KEY: KEY, ORRERY_MODEL: "script/echo" };
  const { code, stdout, stderr } = await project.run(["show", "config"], { env });
  assert.deepEqual([code, stderr], [0, ""]);
  const file = join(project.env.XDG_CONFIG_HOME ?? "", "orrery", "config.yaml");
  assert.match(stdout, /\nmodels\.default +script\/echo +the variable ORRERY_MODEL\n/);
  assert.match(stdout, /\nlimits\.turns +3 +orrery\.yaml:1\n/);
  assert.match(stdout, /\nlimits\.concurrency +16 +default\n/);
  assert.ok(stdout.includes(`${file}:3`), stdout);
  assert.match(stdout, /\nmodels\.providers\.ollama\.headers\S* +\S*\(hidden\)/);
  assert.match(stdout, /\n\(key of openai\) +set +the variable OPENAI_API_KEY\n/);
  assert.ok(!stdout.includes(KEY) && !stdout.includes("hidden-key"));

  const flags = await project.run(["show", "config", "-m", "local", "--timeout", "5", "--json"], { env });
  const settings: readonly { key: string; value: unknown; from: string }[] = JSON.parse(flags.stdout);
  const found = (key: string) => settings.find((setting) => setting.key === key);
  assert.deepEqual(found("models.default"), { key: "models.default", value: "local", from: "--model" });
  assert.deepEqual(found("limits.timeout-s"), { key: "limits.timeout-s", value: 5, from: "--timeout" });
});

Deno.test("show config: what a project says for itself is marked until it is accepted; list models leaves it out", async () => {
  await using project = await testProject({ "orrery.yaml": SETTINGS });
  const before = await project.run(["show", "config"]);
  assert.match(before.stdout, /orrery\.yaml:\d+ \(does not count: you have not accepted this project\)/);
  assert.doesNotMatch((await project.run(["list", "models"])).stdout, /\nollama /);
  await project.run(["list", "gadgets", "--trust-project"]);
  assert.doesNotMatch((await project.run(["show", "config"])).stdout, /does not count/);
  assert.match((await project.run(["list", "models"])).stdout, /\nollama /);
});

/** Stands where a local model server usually does; undefined when those places are taken. */
function localServer(): Deno.Listener & { readonly addr: Deno.NetAddr } | undefined {
  for (const port of [11434, 1234, 8080]) {
    try {
      return Deno.listen({ hostname: "127.0.0.1", port });
    } catch { /* somebody is there */ }
  }
  return undefined;
}

Deno.test("no model is chosen: a server of this machine is named as a choice, and is told nothing", async () => {
  using listener = localServer();
  if (listener === undefined) return console.log("not run here: the ports of local model servers are taken");
  const heard: Promise<number | null>[] = [];
  const accepting = (async () => {
    for await (const connection of listener) {
      heard.push(connection.read(new Uint8Array(16)).finally(() => connection.close()));
    }
  })();
  await using project = await testProject();
  const { port } = listener.addr;
  const none = await project.run(["ask", "x"]);
  assert.deepEqual([none.code, none.stdout], [2, ""]);
  assert.match(
    none.stderr,
    new RegExp(`A server answers on 127\\.0\\.0\\.1:${port}, where .* usually is\\.`),
  );
  assert.match(
    none.stderr,
    new RegExp(`type: openai-compatible, baseURL: "http://127\\.0\\.0\\.1:${port}/v1"`),
  );
  const count = heard.length;
  assert.ok(count > 0);
  const chosen = await project.run(["ask", "x"], { env: { OPENAI_API_KEY: KEY } });
  assert.doesNotMatch(chosen.stderr, /A server answers/, "there is a provider to choose");
  assert.equal(heard.length, count);
  listener.close();
  await accepting.catch(() => {});
  assert.deepEqual(await Promise.all(heard), heard.map(() => null));
});
