// Keys that come from everywhere a run takes something in, looked for in everything that is kept, told and shown, in every form that
// turn.md 3 names. They hold what each of the forms escapes, and one is the beginning of another.

import assert from "node:assert/strict";
import { join } from "node:path";
import { readUntil, testProject } from "../_project.ts";
import { providerServer } from "../_provider_server.ts";
import type { ProviderReply } from "../_provider_server.ts";
import { orreryCommand, testEnvironment } from "../_run.ts";
import type { RunResult } from "../_run.ts";

const SHORT_KEY = 'sk-"plant\\ed/0+1=2~?&%41';
const KEYS = {
  OPENAI_API_KEY: SHORT_KEY,
  ANTHROPIC_API_KEY: `${SHORT_KEY}-and-longer`,
  COMPATIBLE_KEY: "compatible<planted>key",
  PLANTED: 'two lines\n"of" <ä☃😀> \\ / + = % &',
  HEADER_TOKEN: "header/planted+token==",
};
const WRITTEN_HEADER = 'written "planted" \\header/';

/** What nobody may find, and where each is from. */
const SECRETS: Readonly<Record<string, string>> = { ...KEYS, "the header in the settings": WRITTEN_HEADER };

const base64 = (text: string): string => btoa(String.fromCharCode(...new TextEncoder().encode(text)));
const ascii = (json: string): string =>
  json.replace(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);

/** The forms of a text in which it is looked for. */
function formsOf(value: string): readonly string[] {
  const json = JSON.stringify(value).slice(1, -1);
  const url = encodeURIComponent(value);
  const forms = [
    value,
    json,
    json.replaceAll("/", "\\/"),
    ascii(json),
    JSON.stringify(json).slice(1, -1), // JSON in JSON
    url,
    url.toLowerCase(),
    new URLSearchParams({ k: value }).toString().slice(2),
    base64(value).replace(/=+$/, ""),
    base64(value).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, ""),
  ];
  return [...new Set(forms)];
}

/** The forms in which a test plants it: each alone, and in a text. */
function plantedForms(value: string): readonly string[] {
  const json = JSON.stringify(value).slice(1, -1);
  return [value, json, json.replaceAll("/", "\\/"), encodeURIComponent(value), base64(value)];
}

function assertNowhere(text: string, where: string): void {
  for (const [name, value] of Object.entries(SECRETS)) {
    for (const form of formsOf(value)) {
      const at = text.indexOf(form);
      assert.equal(
        at,
        -1,
        `${name} is in ${where}, as ${form}: …${text.slice(Math.max(0, at - 80), at + form.length + 20)}…`,
      );
    }
  }
}

/** Bytes as text that keeps each byte that is no text apart. */
function textOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

/** Every file below a folder but those that a test has planted keys in itself. */
async function assertNotInFiles(folder: string, planted: readonly string[]): Promise<number> {
  let count = 0;
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    const path = join(folder, name);
    if (isDirectory) count += await assertNotInFiles(path, planted);
    else if (!planted.some((each) => path.endsWith(each))) {
      assertNowhere(textOf(await Deno.readFile(path)), path);
      count++;
    }
  }
  return count;
}

/** What a record tells piece by piece, put together again: cut into pieces a key is one still. */
function joinedPieces(record: string): string {
  const pieces = new Map<string, string>();
  for (const line of record.split("\n").filter((line) => line !== "").map((line) => JSON.parse(line))) {
    const piece = line.part ?? line.event ?? line;
    for (const [name, value] of Object.entries(piece)) {
      if (typeof value !== "string") continue;
      const key = `${line.type} ${line.key ?? line.event?.step ?? ""} ${piece.type} ${name}`;
      pieces.set(key, (pieces.get(key) ?? "") + value);
    }
  }
  return [...pieces.values()].join("\n");
}

const call = (header: string, args: Readonly<Record<string, string>> = {}): string =>
  `!!!GADGET_START:${header}\n${
    Object.entries(args).map(([name, value]) => `!!!ARG:${name}\n${value}\n`).join("")
  }!!!GADGET_END\n`;

/** Gives, logs and throws what it is told to; what it is told is a variable and a form, so that no key is in the call. */
const LEAK = `
const base64 = (text) => btoa(String.fromCharCode(...new TextEncoder().encode(text)));
const forms = {
  raw: (value) => value,
  json: (value) => JSON.stringify({ value }),
  slashes: (value) => JSON.stringify(value).replaceAll("/", "\\\\/"),
  url: (value) => "https://host/?key=" + encodeURIComponent(value),
  base64: (value) => "Basic " + base64(value),
};
async function* stream(value) { for (const unit of value) yield unit; }
export default {
  name: "Leak",
  description: "Test.",
  run(input, context) {
    const value = forms[input.form](Deno.env.get(input.variable));
    if (input.how === "throw") throw new Error("It failed with " + value + ".");
    if (input.how === "cause") throw new Error("It failed.", { cause: new Error(value) });
    if (input.how === "stream") return stream("a " + value + " b");
    if (input.how === "log") for (const unit of value) context.log(unit);
    if (input.how === "key") return { [value]: [1, { deep: value }] };
    return "a " + value + " b";
  },
};`;

const FORMS = ["raw", "json", "slashes", "url", "base64"];
const HOWS = ["give", "throw", "cause", "stream", "log", "key"];

/** Each variable in each form, in each way; and the keys themselves, in the text and in the arguments. */
const CALLS = [
  ...Object.keys(KEYS).flatMap((variable, v) =>
    FORMS.flatMap((form, f) =>
      HOWS.filter((_, h) => (v + f + h) % 3 === 0 || form === "raw").map((how) =>
        call("Leak", { variable, form, how })
      )
    )
  ),
  ...Object.values(SECRETS).flatMap((value, v) =>
    plantedForms(value).map((form, f) =>
      `The key is ${form}.\n${call(`Template:t${v}x${f}`, { template: `the key: ${form}.` })}`
    )
  ),
  ...Object.values(SECRETS).map((value, v) =>
    call(`Template:n${v}`, { template: "x", [`values/${encodeURIComponent(value)}`]: value })
  ),
  call("Leak:last", { variable: "PLANTED", form: "raw", how: "give" }),
].join("\n");

const CONFIG = "orrery/config.yaml";
const PLANTED_FILES = ["work.calls", CONFIG];

/** A project whose user has keys everywhere; `replies` of its provider may be functions of nothing. */
async function plantedProject(replies: readonly ProviderReply[]) {
  let asked = 0;
  const provider = providerServer(() => replies[Math.min(asked++, replies.length - 1)] ?? { status: 500 });
  const project = await testProject({ "gadgets/leak.js": LEAK, "work.calls": CALLS });
  const home = join(project.folder, "..");
  await Deno.mkdir(join(home, "config", "orrery"), { recursive: true });
  const { providers = {} } = provider.settings;
  const headers = { "x-planted": "Bearer ${HEADER_TOKEN}", "x-written": WRITTEN_HEADER };
  const settings = {
    models: { providers: { ...providers, compatible: { ...providers.compatible, headers } } },
  };
  await Deno.writeTextFile(join(home, "config", CONFIG), JSON.stringify(settings));
  return {
    provider,
    project,
    home,
    /** Runs it and looks into what it says. */
    async run(args: readonly string[], stdin?: string): Promise<RunResult> {
      const result = await project.run(args, { env: KEYS, ...(stdin === undefined ? {} : { stdin }) });
      assertNowhere(result.stdout, `stdout of ${args.join(" ").slice(0, 200)}`);
      assertNowhere(result.stderr, `stderr of ${args.join(" ").slice(0, 200)}`);
      return result;
    },
    async [Symbol.asyncDispose]() {
      await provider[Symbol.asyncDispose]();
      await project[Symbol.asyncDispose]();
    },
  };
}

/** A variable is a secret of a run that may read it. */
const GRANT = "--allow-env=PLANTED,HEADER_TOKEN";
const TRUST = ["--trust", "Leak", GRANT];

Deno.test("what a call file holds, and what its gadgets give, log and throw", async () => {
  await using at = await plantedProject([]);
  const { project } = at;
  const live = await at.run(["run", "work.calls", ...TRUST, "--jsonl", "--record", "run.jsonl"]);
  assert.equal(live.code, 1, live.stderr.slice(-500)); // some throw
  const events = live.stdout.trim().split("\n").map((line) => JSON.parse(line));
  assert.equal(events.at(-1).type, "run-end");
  assert.ok(live.stdout.includes("[secret PLANTED]") && live.stdout.includes("[secret OPENAI_API_KEY]"));
  assertNowhere(joinedPieces(live.stdout), "the events, put together");
  assertNowhere(joinedPieces(await project.read("run.jsonl")), "the record, put together");
  await at.run(["run", "work.calls", ...TRUST]);
  await at.run(["run", "work.calls", ...TRUST, "--json", "-o", "value.json"]);
  await at.run(["run", "work.calls", ...TRUST, "--ephemeral"]);
  await at.run(["run", "-", ...TRUST, "--record", "stdin.jsonl"], CALLS);
  assertNowhere(joinedPieces(await project.read("stdin.jsonl")), "the record, put together");
  for (
    const args of [["runs"], ["trace", await project.newest()], ["trace", await project.newest(), "--json"]]
  ) {
    await at.run(args);
  }
  assert.ok(await assertNotInFiles(at.home, PLANTED_FILES) >= 5);

  // A replay has no keys to look for, and tells the same.
  const replay = await project.run(["run", "work.calls", "--replay", "run.jsonl", "--jsonl", "-q"]);
  assert.equal(replay.stdout, live.stdout, replay.stderr);
});

/** A text in the smallest pieces. */
const tiny = (text: string): readonly string[] => [...text];

const SAID = Object.values(SECRETS).flatMap((value) => plantedForms(value)).join(" | ");

const ANSWERS: readonly ProviderReply[] = [
  {
    parts: [
      { reasoning: tiny(`I remember ${SAID}.`), signature: "signed" },
      { text: tiny(`It is ${SAID}.\n${call("Template:a", { template: SAID.replaceAll("\n", " ") })}`) },
    ],
  },
  { parts: [{ text: tiny(`At last: ${SAID}`) }] },
];
const NATIVE_ANSWERS: readonly ProviderReply[] = [
  {
    parts: [
      { text: tiny(`It is ${SAID}.`) },
      { call: { name: "Template", arguments: tiny(JSON.stringify({ template: SAID })) } },
      { call: { name: "Leak", arguments: '{"variable":"PLANTED","form":"json","how":"throw"}' } },
    ],
  },
  { parts: [{ text: tiny(`At last: ${SAID}`) }] },
];

for (
  const { name, model, replies, more } of [
    { name: "in blocks", model: "anthropic/test", replies: ANSWERS, more: [] },
    {
      name: "in native calls",
      model: "compatible/test",
      replies: NATIVE_ANSWERS,
      more: ["--tools-mode=native"],
    },
  ]
) {
  Deno.test(`what a model says in tiny pieces, ${name}, and what it is asked`, async () => {
    await using at = await plantedProject(replies);
    const { project, provider } = at;
    const question = ["ask", `What is ${SAID}?`, "--system", `You know ${SAID}.`, "-m", model];
    const args = [...question, "--tools=Template,Leak", ...TRUST, ...more];
    const live = await at.run([...args, "--jsonl", "--record", "run.jsonl"], `A pipe with ${SAID}`);
    assert.equal(live.code, 0, live.stderr.slice(-500));
    assert.match(JSON.parse(live.stdout.trim().split("\n").at(-1) ?? "").value, /^At last: \[secret /);
    assertNowhere(joinedPieces(live.stdout), "the events, put together");
    assertNowhere(joinedPieces(await project.read("run.jsonl")), "the record, put together");
    for (const { body } of provider.requests) {
      assertNowhere(JSON.stringify(body), "what the provider was sent");
    }
    assert.ok(provider.requests.length >= 2);
    const replay = await project.run(["ask", "--replay", "run.jsonl", "--jsonl", "-q"]);
    assert.equal(replay.stdout, live.stdout, replay.stderr);
    const streamed = await at.run(["ask", "x", "-m", model, GRANT]);
    assert.match(streamed.stdout, /^At last: \[secret /);
    const json = await at.run(["ask", "x", "-m", model, GRANT, "--json"]);
    assert.match(JSON.parse(json.stdout).value, /^At last: \[secret /);
    await at.run(["trace", await project.newest(), "--json"]);
    assert.ok(await assertNotInFiles(at.home, PLANTED_FILES) >= 3);
  });
}

Deno.test("what a provider says when it refuses, wherever its words are cut", async () => {
  const refusals = [401, 400, 200].flatMap((status) => [
    { status, message: `Incorrect API key provided: ${SAID}` },
    { status, contentType: "text/html", body: `<html><title>${KEYS.COMPATIBLE_KEY}</title>${SAID}</html>` },
    ...(status === 200 ? [] : [{ status, contentType: "text/plain", body: `Nothing but ${SAID}` }]),
  ]);
  let n = 0;
  let reply: ProviderReply = { status: 500 };
  await using at = await plantedProject([{ status: 500 }]);
  const provider = providerServer(() => reply);
  await using _provider = provider;
  const env = { ...KEYS, OPENAI_BASE_URL: `${provider.url}/v1` };
  const config = join(at.home, "config", CONFIG);
  await Deno.remove(config);
  for (reply of refusals) {
    const args = ["ask", "x", "-m", "openai/test", GRANT, "--record", `run${n++}.jsonl`];
    const { code, stdout, stderr } = await at.project.run(args, { env });
    assert.equal(code, 7, stderr);
    assertNowhere(stdout + stderr, "what it said");
  }
  // Where the words are cut off, the beginning of a key is not left standing.
  for (const length of [284, 290, 296]) {
    reply = { status: 400, message: `${"x".repeat(length)}${SHORT_KEY}` };
    const { stderr } = await at.project.run(["ask", "x", "-m", "openai/test", GRANT, "--ephemeral"], { env });
    assert.ok(stderr.includes("xxx") && !stderr.includes(SHORT_KEY.slice(0, 4)), stderr);
  }
  await assertNotInFiles(at.home, PLANTED_FILES);
});

Deno.test("an error of a stream that had begun, and a run that is killed and gone on with", async () => {
  if (Deno.build.os === "windows") return console.log("not run here: Windows sends no signals");
  await using at = await plantedProject([
    {
      parts: [{ text: tiny(`It is ${SAID}.\n`) }],
      streamError: { type: "server_error", message: `Failed with ${SAID}` },
    },
  ]);
  const broken = await at.run(["ask", "x", "-m", "compatible/test", GRANT, "--record", "run.jsonl"]);
  assert.equal(broken.code, 7, broken.stderr);
  assertNowhere(joinedPieces(await at.project.read("run.jsonl")), "the record, put together");

  const calls = `${CALLS}\n${call("Wait:w:last", { seconds: "20" })}`;
  await at.project.write("work.calls", calls);
  const child = at.project.start(["run", "work.calls", ...TRUST, "--jsonl", "--record", "cut.jsonl"], {
    env: KEYS,
  });
  await child.stdin.close();
  const reader = child.stdout.getReader();
  await readUntil(reader, '"type":"call-result","invocationId":"last"');
  child.kill("SIGKILL");
  await Promise.all([child.status, child.stderr.cancel(), reader.cancel()]);
  // The database as a kill leaves it, with its write-ahead log.
  const names = [...Deno.readDirSync(join(at.project.folder, ".orrery"))].map(({ name }) => name);
  assert.ok(names.some((name) => name.endsWith("-wal")), names.join(" "));
  await assertNotInFiles(at.home, PLANTED_FILES);
  const asked = at.project.start(["resume", "--rerun", "all", "--jsonl"], { env: KEYS });
  await asked.stdin.close();
  const again = asked.stdout.getReader();
  const told = await readUntil(again, '"invocationId":"w"');
  assertNowhere(told, "what a resumed run tells");
  asked.kill("SIGKILL");
  await Promise.all([asked.status, asked.stderr.cancel(), again.cancel()]);
  await assertNotInFiles(at.home, PLANTED_FILES);
});

/** The letters that a terminal shows, in one row. */
function withoutCommands(seen: string): string {
  return seen.split("\x1b").map((piece, index) =>
    index === 0 ? piece : piece.replace(/^\[[\d;?]*[A-Za-z]/, "")
  )
    .join("").replaceAll(/[\r\n]/g, "");
}

Deno.test("what a terminal shows while it runs", async () => {
  const script = await new Deno.Command("script", { args: ["--version"], stdout: "piped", stderr: "null" })
    .output().catch(() => undefined);
  if (!textOf(script?.stdout ?? new Uint8Array()).includes("util-linux")) {
    return console.log("not run here: there is no script of util-linux to make a terminal with");
  }
  await using at = await plantedProject(ANSWERS);
  const inTerminal = async (args: readonly string[]) => {
    const command = [...orreryCommand(), ...args].map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(
      " ",
    );
    const { stdout } = await new Deno.Command("script", {
      args: ["-qec", `stty cols 200; ${command}`, "/dev/null"],
      cwd: at.project.folder,
      clearEnv: true,
      env: { ...testEnvironment(), ...at.project.env, ...KEYS, NO_COLOR: "", TERM: "xterm" },
      stdin: "null",
      stdout: "piped",
    }).output();
    const seen = textOf(stdout);
    assertNowhere(seen, "the terminal");
    assertNowhere(withoutCommands(seen), "the terminal, without its commands");
    return seen;
  };
  const seen = await inTerminal(["run", "work.calls", ...TRUST]);
  assert.ok(seen.includes("\x1b["), "it is the live view");
  assert.match(
    await inTerminal(["ask", "x", "-m", "anthropic/test", "--tools=Template", GRANT]),
    /At last: \[secret/,
  );
  await inTerminal(["show", "config"]);
  await inTerminal(["list", "models"]);
});

Deno.test("the settings, as they are shown", async () => {
  await using at = await plantedProject([]);
  for (
    const args of [["show", "config"], ["show", "config", "--json"], ["list", "models"], [
      "list",
      "models",
      "--json",
    ]]
  ) {
    const { code, stderr } = await at.run(args);
    assert.equal(code, 0, stderr);
  }
});

Deno.test("a stream of a gadget is ended at the limit of results, and no half of a key is left there", async () => {
  const key = "0123456789abcdef".repeat(4);
  const before = "x".repeat(960);
  await using project = await testProject({
    "orrery.yaml": "limits: { result-bytes: 1000 }\n",
    "gadgets/streams.ts": `
export default {
  name: "Streams",
  async *run({ at }) {
    const pieces = Number(at) === 0 ? ["a", "b"] : ["${key}".slice(0, Number(at)), "${key}".slice(Number(at)), "more", "and more"];
    yield "${before}";
    yield* pieces;
  },
};
`,
    "work.calls": ["30", "41", "0"].map((at) => call(`Streams:at${at}`, { at })).join(""),
  });
  const { code, stdout, stderr } = await project.run(
    ["run", "work.calls", "--trust=Streams", "--trust-project", "--json", "-q"],
    { env: { OPENAI_API_KEY: key } },
  );
  assert.equal(code, 0, stderr);
  const cut =
    "[cut: the stream was ended here, so nobody knows how much is missing; limits.result-bytes is 1000]";
  assert.deepEqual(JSON.parse(stdout).value, {
    at30: `${before}[secret OPENAI_API_KEY]\n${cut}`,
    at41: `${before}\n${cut}`,
    at0: `${before}ab`,
  });
});
