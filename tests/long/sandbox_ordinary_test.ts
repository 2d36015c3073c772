// Ordinary gadgets behave the same under `deno run` and in the compiled binary: tests/sandbox/_ordinary_table.ts.

import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { withServer } from "../_loopback.ts";
import { compiledBinary, denoCommand, PROJECT_ROOT } from "../_run.ts";
import { type Expected, ORDINARY, type Ordinary, textOf } from "../sandbox/_ordinary_table.ts";
import { type AttackPlace, attackPlace, type Outcome, type Told } from "../sandbox/_place.ts";

const FOLDER = join(PROJECT_ROOT, "tests/sandbox/ordinary");

/** The gadget with the parts that it may import. */
async function ordinaryPlace({ file, files = {} }: Ordinary): Promise<AttackPlace> {
  const read = (name: string) => Deno.readTextFile(join(FOLDER, name));
  const parts = [...Deno.readDirSync(join(FOLDER, "_parts"))].map(({ name }) => `_parts/${name}`);
  const modules = await Promise.all(
    [file, ...parts].map(async (name) => [`gadgets/${name}`, await read(name)] as const),
  );
  return await attackPlace({ ...Object.fromEntries(modules), ...files }, { inside: true });
}

function assertEnd(outcome: Outcome, expected: Expected): void {
  if ("result" in expected) assert.deepEqual(outcome.result, expected.result, outcome.error);
  else if ("length" in expected) {
    assert.ok(typeof outcome.result === "string", outcome.error);
    // What is cut has a marker behind it.
    const { length } = outcome.result;
    assert.ok(length >= expected.length && length < expected.length + 300, `${length} characters`);
  } else {
    assert.equal(outcome.code, expected.code, `${outcome.error}${JSON.stringify(outcome.result)}`);
    assert.match(outcome.error, expected.error);
  }
}

async function answer(request: Request): Promise<Response> {
  const { pathname, search } = new URL(request.url);
  switch (pathname) {
    case "/json":
      return Response.json({ path: pathname + search, own: request.headers.get("x-own") });
    case "/echo":
      return new Response(await request.text());
    case "/moved":
      return new Response(null, { status: 302, headers: { location: "/text" } });
    case "/text":
      return new Response("plain");
    case "/bytes":
      return new Response(new Uint8Array([0, 128, 255]));
    default:
      return new Response("nothing here", { status: 404 });
  }
}

/** All that a program and a person are told of the calls of a gadget, run in one form; places and times are written as one word. */
async function allOf(ordinary: Ordinary, command: readonly string[]): Promise<unknown> {
  const { grants = [], env = {}, concurrency = 1, expected, written } = ordinary;
  await using place = await ordinaryPlace(ordinary);
  await using server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, answer);
  const { port } = server.addr;
  const calls = ordinary.calls(`http://127.0.0.1:${port}`);
  const flags = grants.flatMap((grant) => ["--allow-gadget", grant]);
  const options = { args: flags, env, concurrency, command, timeoutSeconds: 10 };
  const same = (text: string) =>
    text.replaceAll(dirname(place.project.folder), "@PLACE@").replaceAll(`127.0.0.1:${port}`, "@SERVER@");
  const run = await place.run(calls, options);
  for (const [id, end] of Object.entries(expected)) assertEnd(run.outcome(id), end);
  await place.assertHarmless(run, { ...(written && { written }) });
  const { events, exitCode } = run;
  const byCall = Map.groupBy(events, ({ invocationId = "run" }) => invocationId);
  const told = [...byCall].map(([id, own]) => [id, own.map((event) => steady(event, same))] as const);
  // Of calls that run at once, what each of them counts is another each time, but for those with an expectation.
  if (concurrency > 1) return told.filter(([id]) => Object.hasOwn(expected, id));
  const shown = await place.command(["run", "attack.calls", "--concurrency", "1", ...flags], options);
  return {
    exitCodes: [exitCode, shown.exitCode],
    told,
    stdout: same(shown.stdout),
    stderr: same(shown.stderr).replaceAll(/\b\d+(\.\d+)? (ms|s)\b/g, "@TIME@"),
  };
}

/** An event without its number, its time and the id of its run. */
function steady(event: Told, same: (text: string) => string): unknown {
  return JSON.parse(
    same(JSON.stringify({ ...event, seq: 0, at: 0, run: "", ...("ms" in event && { ms: 0 }) })),
  );
}

const binary = compiledBinary();
if (binary === undefined) {
  console.log("not run here: form against form; deno task test:binary does, with the binary");
}

for (const [index, ordinary] of ORDINARY.entries()) {
  Deno.test({
    name: `sandbox ordinary, form against form: ${ordinary.file} (${index + 1})`,
    ignore: binary === undefined,
    fn: async () =>
      assert.deepEqual(await allOf(ordinary, [binary ?? ""]), await allOf(ordinary, denoCommand())),
  });
}

async function tryOrdinary(ordinary: Ordinary): Promise<void> {
  const { grants = [], env = {}, concurrency = 1, expected, told = {}, written, says } = ordinary;
  await using place = await ordinaryPlace(ordinary);
  await withServer(answer, async (port) => {
    const calls = ordinary.calls(`http://127.0.0.1:${port}`);
    const args = grants.flatMap((grant) => ["--allow-gadget", grant]);
    const run = await place.run(calls, { args, env, concurrency, timeoutSeconds: 10 });
    for (const [id, end] of Object.entries(expected)) assertEnd(run.outcome(id), end);
    for (const [type, texts] of Object.entries(told)) {
      const found = run.events.filter((event) => event.type === type).map(textOf);
      assert.deepEqual(found.flatMap((text) => text.trim().split("\n")), texts);
    }
    await place.assertHarmless(run, { ...(written && { written }) });
    if (says === undefined) return;
    const shown = await place.command(["run", "attack.calls", "--concurrency", "1", ...args], { env });
    assert.match(shown.stderr, says);
  });
}

for (const [index, ordinary] of ORDINARY.entries()) {
  const again = ORDINARY.findIndex(({ file }) => file === ordinary.file) === index ? "" : ", not granted";
  Deno.test({
    name: `sandbox ordinary: ${ordinary.file}${again}`,
    ignore: binary !== undefined, // there both forms are held to what is expected, and to each other
    fn: () => tryOrdinary(ordinary),
  });
}

const ASKED = `
- when: "^hi$"
  text: |
    !!!GADGET_START:Formatted:f
    !!!ARG:text
    one two three
    !!!GADGET_END
- when: "Formatted: 3 words"
  text: it was three
`;

Deno.test("sandbox ordinary: a model reads what the gadget's own format gives", async () => {
  await using place = await attackPlace({
    "gadgets/formatted.ts": await Deno.readTextFile(join(FOLDER, "formatted.ts")),
    "m.yml": ASKED,
  }, { inside: true });
  const run = await place.command(["ask", "hi", "-m", "script/m.yml", "--tools", "Formatted", "-q"]);
  assert.deepEqual([run.exitCode, run.stdout], [0, "it was three"], run.stderr);
});

Deno.test("sandbox ordinary: what gadgets say of themselves is listed", async () => {
  await using place = await attackPlace(
    Object.fromEntries(
      await Promise.all(
        ["described.ts", "greet.ts"].map(async (file) =>
          [`gadgets/${file}`, await Deno.readTextFile(join(FOLDER, file))] as const
        ),
      ),
    ),
    { inside: true },
  );
  const list = await place.command(["list", "gadgets"]);
  assert.match(list.stdout, /Described/, list.stderr);
  assert.match(list.stdout, /Greet/);
  const show = await place.command(["show", "gadget", "Described"]);
  assert.match(show.stdout, /Says all that a gadget can say of itself/, show.stderr);
  assert.match(show.stdout, /minimum|1/);
  await place.assertHarmless(show);
});

Deno.test("sandbox ordinary: at least 20 of them", () => {
  assert.ok(new Set(ORDINARY.map(({ file }) => file)).size >= 20);
});
