// What `orrery.yaml` and the user's own settings mean, where they come from, and what is wrong with them.

import { Validator } from "@cfworker/json-schema";
import { parse } from "yaml";
import assert from "node:assert/strict";
import { dirname, join, relative } from "node:path";
import { type TestProject, testProject } from "./_project.ts";
import { orrery, PROJECT_ROOT, runProgram, testEnvironment } from "./_run.ts";

/** A project with `orrery.yaml`, other files, and the user's own `config.yaml`. */
async function projectOf(yaml: string, own?: string): Promise<TestProject> {
  const project = await testProject({ "orrery.yaml": yaml });
  if (own !== undefined) await project.write("../config/orrery/config.yaml", own);
  return project;
}

interface Setting {
  readonly key: string;
  readonly value: unknown;
  readonly from: string;
}

/** What is set, as `orrery show config` has it, without what is about keys of providers. */
async function settingsOf(project: TestProject): Promise<readonly Setting[]> {
  const { code, stdout, stderr } = await project.run(["show", "config", "--json"]);
  assert.equal(code, 0, stderr);
  const all: readonly Setting[] = JSON.parse(stdout);
  return all.filter(({ key }) => !key.startsWith("("));
}

const valuesOf = (settings: readonly Setting[]): Readonly<Record<string, unknown>> =>
  Object.fromEntries(settings.map(({ key, value }) => [key, value]));

/** A line each, and the hints below them. */
async function problemsOf(yaml: string, own?: string) {
  await using project = await projectOf(yaml, own);
  const { code, stdout, stderr } = await project.run(["show", "config"]);
  assert.deepEqual([code, stdout], [2, ""], stderr);
  return told(stderr);
}

function told(stderr: string): { readonly lines: readonly string[]; readonly hints: readonly string[] } {
  const problems = stderr.trimEnd().split("\n\n");
  return {
    lines: problems.map((text) => text.split("\n", 1)[0]?.replace(": error: ", ": ") ?? ""),
    hints: problems.map((text) => /^hint: (.*)$/m.exec(text)?.[1] ?? ""),
  };
}

const OWN = "../config/orrery/config.yaml";

Deno.test("config: without a file the defaults hold", async () => {
  await using project = await testProject();
  const settings = await settingsOf(project);
  assert.ok(settings.every(({ from }) => from === "default"));
  assert.deepEqual(valuesOf(settings), {
    "calls.markers.start": "!!!GADGET_START:",
    "calls.markers.end": "!!!GADGET_END",
    "calls.markers.arg": "!!!ARG:",
    "gadgets.folders": ["gadgets/"],
    "prompts.folders": ["prompts/"],
    "tactics.folders": ["tactics/"],
    "telemetry.otlp": false,
    "telemetry.content": false,
    "limits.concurrency": 16,
    "limits.timeout-s": 60,
    "limits.turns": 10,
    "limits.retries": 3,
    "limits.goto": 30,
    "limits.tool-turns": 8,
    "limits.shell-timeout": 120,
    "limits.steps": 250,
    "limits.result-bytes": 1_048_576,
    "limits.gadget-idle-s": 30,
    "limits.gadget-memory-mb": 256,
    "limits.runs": 64,
  });
});

Deno.test("config: without a file a run does not load what reads YAML", async () => {
  await using project = await testProject({ "a.calls": "!!!GADGET_START:Now\n" });
  /** The loader's log names every module. */
  const loadsYaml = async (): Promise<boolean> => {
    const args = ["run", "-A", "--log-level=debug", "--config", join(PROJECT_ROOT, "deno.json")];
    const { code, stderr } = await runProgram(
      [Deno.execPath(), ...args, join(PROJECT_ROOT, "main.ts"), "run", "a.calls", "--ephemeral"],
      { cwd: project.folder, env: { ...testEnvironment(), ...project.env } },
    );
    assert.equal(code, 0, stderr);
    assert.match(stderr, /lib\/cli\/main\.ts/);
    return /yaml\/2\.\d+\.\d+\/[^\n]*\.js/.test(stderr);
  };
  assert.equal(await loadsYaml(), false);
  await project.write("orrery.yaml", "limits: { turns: 3 }\n");
  assert.equal(await loadsYaml(), true);
});

Deno.test("config: what is written is read, the project's over the user's over the defaults", async () => {
  await using project = await projectOf(
    `
calls: { markers: { start: "<<<", end: ">>>" } }
gadgets:
  folders: [tools/, more]
limits: { concurrency: 4, timeout-s: 1.5, result-bytes: 10, turns: 7, retries: 0, tokens: 1000, cost: 0.5, time-s: 2.5,
  gadget-idle-s: 0.25, gadget-memory-mb: 64, runs: 5 }
tools-mode: native
conversations: { timeout-s: 1.5, embeddings: openai/text-embedding-3-small }
`,
    "limits: { concurrency: 3, goto: 5, steps: 7 }\ncalls: { markers: { start: 'no', arg: '--' } }\n" +
      "conversations: { collection: mine.yml, timeout-s: 5 }\n",
  );
  const settings = await settingsOf(project);
  const own = join(project.env.XDG_CONFIG_HOME ?? "", "orrery", "config.yaml");
  const written = settings.filter(({ from }) => from !== "default").map((
    { key, value, from },
  ) => [key, value, from.replace(own, "own")]);
  assert.deepEqual(written, [
    ["tools-mode", "native", "orrery.yaml:7"],
    ["calls.markers.start", "<<<", "orrery.yaml:2"],
    ["calls.markers.end", ">>>", "orrery.yaml:2"],
    ["calls.markers.arg", "--", "own:2"],
    ["gadgets.folders", ["tools/", "more"], "orrery.yaml:4"],
    ["conversations.collection", "mine.yml", "own:3"],
    ["conversations.embeddings", "openai/text-embedding-3-small", "orrery.yaml:8"],
    ["conversations.timeout-s", 1.5, "orrery.yaml:8"],
    ["limits.concurrency", 4, "orrery.yaml:5"],
    ["limits.timeout-s", 1.5, "orrery.yaml:5"],
    ["limits.turns", 7, "orrery.yaml:5"],
    ["limits.retries", 0, "orrery.yaml:5"],
    ["limits.tokens", 1000, "orrery.yaml:5"],
    ["limits.cost", 0.5, "orrery.yaml:5"],
    ["limits.time-s", 2.5, "orrery.yaml:5"],
    ["limits.goto", 5, "own:1"],
    ["limits.steps", 7, "own:1"],
    ["limits.result-bytes", 10, "orrery.yaml:5"],
    ["limits.gadget-idle-s", 0.25, "orrery.yaml:6"],
    ["limits.gadget-memory-mb", 64, "orrery.yaml:6"],
    ["limits.runs", 5, "orrery.yaml:6"],
  ]);
});

Deno.test("config: what a project says for itself counts once it is accepted; of the user's own the same word is for every project", async () => {
  await using project = await projectOf(
    "grants: { weather: trusted }\ngadgets: { isolation: { weather: none } }\n" +
      "mcpServers: { git: { command: git-mcp } }\nmodels: { default: a/b, providers: { x: { type: xai } } }\n",
    "grants: { /p/Mine: trusted, web: trusted, RunCommand: trusted, run_command: trusted }\n" +
      "gadgets: { isolation: { ../gadgets/mine.ts: none, Mine: none } }\n" +
      "mcpServers: { web: { url: http://x/mcp } }\nmodels: { providers: { openai: { baseURL: http://h/v1 } } }\n" +
      "prompts: { folders: [p] }\nagents: [{ name: w }]\n",
  );
  const uncounted = async (): Promise<readonly string[]> =>
    (await settingsOf(project)).flatMap(({ key, from }) => from.includes("does not count") ? [key] : []);
  assert.deepEqual(await uncounted(), [
    "models.providers.x.type",
    "gadgets.isolation.weather",
    "grants.weather",
    "mcpServers.git.command",
  ]);
  const why = (name: string) =>
    `counts for nothing, since any project may have a gadget of that name; for the one of this project write ${
      JSON.stringify(join(project.folder, name))
    }, or the path of its file.`;
  const { stderr } = await project.run(["list", "gadgets", "--trust-project"]);
  assert.deepEqual(stderr.split("\n").filter((line) => line.includes(OWN)), [
    `warning: ${OWN}:5:1: "prompts" is ignored here: it belongs in the orrery.yaml of a project`,
    `warning: ${OWN}:6:1: "agents" is ignored here: it belongs in the orrery.yaml of a project`,
    `warning: ${OWN}:1:64: grants of "run_command" ${why("run_command")} Did you mean "RunCommand"?`,
    `warning: ${OWN}:2:51: gadgets.isolation of "Mine" ${why("Mine")}`,
  ]);
  assert.deepEqual(await uncounted(), []);
});

Deno.test("config: all problems at once, each at its place", async () => {
  const { lines, hints } = await problemsOf(
    `limitz: {}
limits:
  concurency: 4
  concurrency: "8"
  timeout-s: 0
  result-bytes: 1.5
calls: []
gadgets:
  folders: gadgets/
  isolation: { a: container }
grants:
  b: trustd
  c: { raed: true, net: [1], read: yes }
  d:
`,
    "model: x\n",
  );
  assert.deepEqual(lines, [
    'orrery.yaml:1:1: Unknown key "limitz". Did you mean "limits"?',
    'orrery.yaml:3:3: Unknown key "concurency" in limits. Did you mean "concurrency"?',
    'orrery.yaml:4:16: Found the text "8" for limits.concurrency, expected a whole number from 1',
    "orrery.yaml:5:14: Found the number 0 for limits.timeout-s, expected a number above 0 to 2147483",
    "orrery.yaml:6:17: Found the number 1.5 for limits.result-bytes, expected a whole number from 1",
    "orrery.yaml:7:8: Found a list for calls, expected a mapping",
    'orrery.yaml:9:12: Found the text "gadgets/" for gadgets.folders, expected a list',
    'orrery.yaml:10:19: Found the text "container" for gadgets.isolation.a, expected "none"',
    'orrery.yaml:12:6: Found the text "trustd" for grants.b, expected "trusted" or a mapping',
    'orrery.yaml:13:8: Unknown key "raed" in grants.c. Did you mean "read"?',
    "orrery.yaml:13:26: Found the number 1 for grants.c.net.0, expected text",
    'orrery.yaml:13:36: Found the text "yes" for grants.c.read, expected true or a list',
    'orrery.yaml:14:5: Found nothing for grants.d, expected "trusted" or a mapping',
    `${OWN}:1:1: Unknown key "model". Did you mean "models"?`,
  ]);
  assert.equal(hints[2], "Write it without quotes.");
  assert.equal(hints[8], 'Did you mean "trusted"?');
  assert.equal(hints[12], "Give it a value, or remove the key.");
});

Deno.test("config: a file that is no configuration", async () => {
  assert.deepEqual((await problemsOf("- a\n")).lines, [
    "orrery.yaml:1:1: Found a list, expected a mapping",
  ]);
  assert.deepEqual((await problemsOf("a: [\n")).lines, [
    "orrery.yaml:1:5: Found the end of a list or mapping in brackets too early",
  ]);
  await using folder = await testProject({ "orrery.yaml/x": "" });
  const { code, stderr } = await folder.run(["show", "config"]);
  assert.deepEqual([code, stderr], [2, 'error: Cannot read "orrery.yaml": it is a folder, not a file\n']);
  await using later = await testProject({ "orrery.yaml": "# later\n" });
  assert.equal(valuesOf(await settingsOf(later))["limits.concurrency"], 16);
  await Deno.writeFile(join(later.folder, "orrery.yaml"), new Uint8Array([0x61, 0x3a, 0x20, 0xff]));
  assert.match(
    (await later.run(["show", "config"])).stderr,
    /Cannot read "orrery\.yaml": it is not UTF-8 text: .* offset 3/,
  );
});

Deno.test("config: markers and folders that cannot be used are told at their place", async () => {
  assert.deepEqual((await problemsOf("calls:\n  markers: { start: 'A', end: 'AB' }\n")).lines, [
    'orrery.yaml:2:3: Cannot tell the markers apart: start "A" is a prefix of end "AB"',
  ]);
  assert.deepEqual((await problemsOf("gadgets: { folders: [gadgets, ../other, /etc] }\n")).lines, [
    "orrery.yaml:1:31: Found a gadget folder outside the project, expected one inside it",
    "orrery.yaml:1:41: Found a gadget folder outside the project, expected one inside it",
  ]);
});

Deno.test("config: models that do not fit together are told at their place", async () => {
  const { lines } = await problemsOf(
    `models:
  aliases: { a: b, b: a, fast: small, other: openai/gpt-5, deep: fast, slef: nothing }
  providers:
    local: { type: openai-compatible }
    mine: { baseURL: "localhost:1234" }
    script: { type: openai }
    openai: { baseURL: ftp://x }
  prices: { gpt: { input: 1, output: 2 }, openai/x: { input: 1 } }
mcpServers:
  none: { args: [a] }
  both: { command: c, url: u }
`,
    "models: { aliases: { small: a } }\nmcpServers: { odd: { url: u, env: { A: b } } }\n",
  );
  assert.deepEqual(lines, [
    "orrery.yaml:2:17: The aliases of models go round in a circle: a -> b -> a",
    'orrery.yaml:2:78: Found "nothing", expected provider/model or another alias',
    "orrery.yaml:4:5: Found an openai-compatible provider without baseURL, expected one",
    "orrery.yaml:5:5: Found a provider without a type, expected one of openai, anthropic, google, mistral, xai, groq, openai-compatible",
    'orrery.yaml:5:22: Found "localhost:1234" for a baseURL, expected an address with http:// or https://',
    'orrery.yaml:6:5: Found a provider named "script", which Orrery has itself',
    'orrery.yaml:7:24: Found "ftp://x" for a baseURL, expected an address with http:// or https://',
    'orrery.yaml:8:13: Found a price for "gpt", expected provider/model',
    "orrery.yaml:8:43: Found a price without output, expected both",
    "orrery.yaml:10:3: Found a server without command and url, expected one of them",
    "orrery.yaml:11:3: Found a server with command and url, expected one kind",
    `${OWN}:2:15: Found a server with url and env, expected one kind`,
  ]);
});

Deno.test("config: what is wrong with an agent is known before anybody wants one", async () => {
  const { lines } = await problemsOf(
    "agentDefaults: { name: x, limits: { parallelTools: 0 } }\nagents:\n  - more.yaml\n  - { name: w, model: m, systemPromt: p }\n  - model: m\n",
  );
  assert.deepEqual(lines, [
    'orrery.yaml:1:18: agentDefaults: unknown key "name"',
    "orrery.yaml:1:37: agentDefaults: limit parallelTools must be an integer from 1",
    'orrery.yaml:4:26: agent "w": unknown key "systemPromt". Did you mean "systemPrompt"?',
    "orrery.yaml:5:5: agents[2]: name is required",
    "orrery.yaml:5:5: agents[2]: give either systemPrompt or system",
  ]);
});

Deno.test("config: files are named as seen from the working folder", async () => {
  await using project = await testProject({ "orrery.yaml": "x: 1\n", "deep/er/y": "" });
  const { stderr } = await orrery(["show", "config"], { cwd: join(project.folder, "deep", "er") });
  assert.match(stderr, /^\.\.\/\.\.\/orrery\.yaml:1:1: error: /);
});

const EVERYTHING = `
models: { default: a/b, aliases: { x: a/b }, fallback: { x: [y] }, prices: { a/b: { input: 1, output: 2, cached: 0, cacheWrite: 3 } },
  providers: { p: { type: openai-compatible, baseURL: "http://u", apiKeyEnv: K, headers: { H: v }, queryParams: { q: v }, api: chat, structuredOutputs: true,
    contextTokens: 9, options: { o: [1] } } } }
tools-mode: blocks
calls: { markers: { start: a, end: b, arg: c } }
gadgets: { folders: [gadgets/], isolation: { A: none } }
grants: { A: trusted, B: { read: true, write: [out], net: [h], env: [E], run: [r], sys: [hostname] } }
mcpServers: { s: { command: c, args: [a], env: { E: v } }, t: { url: u, headers: { H: v } } }
prompts: { folders: [prompts/, { path: p, prefix: q }] }
tactics: { folders: [tactics/] }
agents: [{ name: n, model: m, system: s }, more.yaml]
agentDefaults: { model: m }
documents: { show-operations: true, temperature: 0.5, shell: bash }
conversations: { collection: c.yml, embeddings: a/b, timeout-s: 5 }
limits:
  { concurrency: 16, timeout-s: 60, turns: 10, retries: 3, tokens: 5, cost: 0.5, time-s: 9, goto: 30, tool-turns: 8,
    shell-timeout: 120, steps: 250, result-bytes: 1048576, gadget-idle-s: 30, gadget-memory-mb: 256, runs: 64 }
`;

Deno.test("config: the schema says the same as the reading", async () => {
  await using project = await testProject();
  const schema = JSON.parse((await project.run(["schema", "config"])).stdout);
  const validator = new Validator(schema, "2020-12");
  const agrees = async (text: string): Promise<boolean> => {
    await project.write("orrery.yaml", text);
    const { code, stderr } = await project.run(["show", "config"]);
    const { valid } = validator.validate(parse(text));
    assert.equal(valid, code === 0, `${text}\n${stderr}`);
    return valid;
  };
  assert.equal(await agrees(EVERYTHING), true);
  for (
    const text of [
      "limitz: 1",
      "limits: { turns: 0 }",
      "limits: { retries: 0 }",
      "limits: { retries: -1 }",
      "limits: { cost: 0 }",
      "limits: { timeout-s: 9999999 }",
      "limits: []",
      "tools-mode: both",
      "models: { providers: { p: { type: other } } }",
      "models: { providers: { p: { api: both } } }",
      "models: { providers: { p: { baseUrl: x } } }",
      "models: { prices: { m: { input: -1 } } }",
      "models: { prices: { m: 1 } }",
      "models: { fallback: { m: n } }",
      "models: { aliases: { m: '' } }",
      "grants: { a: trusted }",
      "grants: { a: false }",
      "grants: { a: { read: false } }",
      "grants: { a: { ffi: true } }",
      "gadgets: { folders: [''] }",
      "gadgets: { isolation: { a: process } }",
      "mcpServers: { a: { cmd: x } }",
      "agents: [1]",
      "agents: []",
      "prompts: { folders: [{ path: x, other: y }] }",
      "documents: { temperature: 3 }",
      "documents: { show-operations: 'yes' }",
      "{}",
    ]
  ) await agrees(text);
});

Deno.test("project root: the nearest orrery.yaml, up to .git, the home folder, or a closed folder", async () => {
  const call = "!!!GADGET_START:Now\n!!!GADGET_END\n";
  await using project = await testProject({
    "home/project/orrery.yaml": "",
    "home/project/a/b/a.calls": call,
    "home/repo/.git/HEAD": "",
    "home/project/deep/repo/.git/HEAD": "",
    "home/project/deep/repo/a/a.calls": call,
    "home/repo/a/a.calls": call,
    "home/orrery.yaml": "",
    "home/plain/x/a.calls": call,
    "home/worktree/.git": "gitdir: elsewhere",
    "home/worktree/orrery.yaml": "",
    "home/worktree/a/x": "",
    "home/odd/orrery.yaml/x": "",
    "out/a/x": "",
    "orrery.yaml": "",
  });
  const folder = (path: string) => join(project.folder, path);
  const at = (path: string, home: string) => ({
    cwd: folder(path),
    env: { ...project.env, HOME: folder(home) },
  });
  const rootOf = async (path: string, home = "home"): Promise<string> => {
    const { stdout } = await orrery(["show", "config", "--json"], at(path, home));
    const settings: readonly Setting[] = JSON.parse(stdout);
    return relative(project.folder, String(settings.find(({ key }) => key === "(project root)")?.value));
  };
  assert.equal(await rootOf("home/project"), "home/project");
  assert.equal(await rootOf("home/project/a/b"), "home/project");
  assert.equal(
    await rootOf("home/repo/a"),
    "home/repo/a",
    ".git ends the search before the home folder's file",
  );
  assert.equal(await rootOf("home/worktree/a"), "home/worktree", "a folder with .git is looked at itself");
  assert.equal(await rootOf("home/odd"), "home", "a folder named orrery.yaml is no configuration");
  assert.equal(await rootOf("home/plain"), "home", "the home folder is looked at last");
  assert.equal(await rootOf("home/plain", "home/plain"), "home/plain", "and nothing above it");
  assert.equal(await rootOf("out/a"), "");

  /** Where a run of a file keeps what it did. */
  const rootIn = async (cwd: string, path: string, home = "home"): Promise<string | undefined> => {
    const { code, stderr } = await orrery(["run", folder(`${path}/a.calls`)], at(cwd, home));
    assert.equal(code, 0, stderr);
    for (let at = path; at !== "."; at = dirname(at)) {
      const kept = await Deno.remove(folder(`${at}/.orrery`), { recursive: true }).then(
        () => true,
        () => false,
      );
      if (kept) return at;
    }
    return undefined;
  };
  assert.equal(
    await rootIn("home/repo", "home/repo/a"),
    "home/repo",
    "without a configuration it is the working folder",
  );
  assert.equal(
    await rootIn("home/plain", "home/repo/a"),
    "home/repo/a",
    "but not for a file outside of that",
  );
  assert.equal(
    await rootIn("home/project", "home/project/deep/repo/a"),
    "home/project",
    "a .git on the way is none of its own",
  );
  assert.equal(
    await rootIn("home/project/deep", "home/project/deep/repo/a"),
    "home/project",
    "the working folder may belong to a project: what is kept there is found by its own search",
  );
  assert.equal(await rootIn("home/plain", "home/plain/x", "home/plain"), "home/plain");

  if (Deno.uid() === 0) return console.log("not run here: root may read every folder");
  await Deno.mkdir(folder("closed/a"), { recursive: true });
  await Deno.chmod(folder("closed"), 0o111);
  assert.equal(await rootOf("closed/a"), "closed/a", "a folder that may not be read ends the search");
});
