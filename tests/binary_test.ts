// The compiled program: `deno task compile`, then `deno task test:binary`. It is run as somebody has it who downloaded it:
// from another folder, with an empty home and no Deno on PATH.

import assert from "node:assert/strict";
import { join } from "node:path";
import { isFarOver, startupTable, startupWithin } from "./bench/startup.ts";
import { exampleCases, tryExample } from "./example_cases.ts";
import { testPdf } from "./_pdf.ts";
import { providerServer, TEST_KEY } from "./_provider_server.ts";
import { compiledBinary, type RunOptions, runProgram, type RunResult } from "./_run.ts";

const MAX_BYTES = 130_000_000;

const binary = compiledBinary();

/** A folder to stand in, a home and a folder for temporary files, all empty. */
interface Elsewhere extends AsyncDisposable {
  readonly folder: string;
  run(args: readonly string[], options?: RunOptions): Promise<RunResult>;
  write(file: string, text: string): Promise<void>;
  /** What has been left in the home and in the folder for temporary files. */
  left(): Promise<readonly string[]>;
}

async function elsewhere(program: string): Promise<Elsewhere> {
  const top = await Deno.makeTempDir({ prefix: "orrery binary " });
  const [folder, home, temporary] = [join(top, "here"), join(top, "home"), join(top, "tmp")];
  for (const path of [folder, home, temporary]) await Deno.mkdir(path);
  const env = { HOME: home, TMPDIR: temporary, PATH: "/usr/bin:/bin", DENO_DIR: join(home, "none") };
  return {
    folder,
    run: (args, options = {}) => runProgram([program, ...args], { cwd: folder, env, ...options }),
    write: (file, text) => Deno.writeTextFile(join(folder, file), text),
    left: async () => [...await namesIn(home), ...await namesIn(temporary)],
    [Symbol.asyncDispose]: () => Deno.remove(top, { recursive: true }),
  };
}

async function namesIn(folder: string): Promise<readonly string[]> {
  return (await Array.fromAsync(Deno.readDir(folder))).map(({ name }) => name);
}

if (binary === undefined) {
  console.log("not run here: the binary; deno task compile, then deno task test:binary");
}

/** A test of the binary; it is left out where there is none. */
function binaryTest(name: string, test: (t: Deno.TestContext, program: string) => Promise<void>): void {
  Deno.test({ name: `binary: ${name}`, ignore: binary === undefined, fn: (t) => test(t, binary ?? "") });
}

binaryTest("it is not too large", async (_t, program) => {
  const { size } = await Deno.stat(program);
  assert.ok(size <= MAX_BYTES, `${size} bytes, at most ${MAX_BYTES}`);
});

binaryTest("no Deno is within its reach", async (_t, program) => {
  await using place = await elsewhere(program);
  const look = ["sh", "-c", "command -v deno"];
  if (Deno.build.os === "windows") console.log("not run here: whether PATH has a Deno; there is no sh");
  else assert.notEqual((await runProgram(look, { env: { PATH: "/usr/bin:/bin" } })).code, 0);
  const version = await place.run(["--version"]);
  assert.match(version.stdout, /^orrery \d+\.\d+\.\d+/);
  assert.deepEqual([version.code, version.stderr], [0, ""]);
});

binaryTest("it runs calls from a file and from a pipe", async (_t, program) => {
  await using place = await elsewhere(program);
  const calls = "!!!GADGET_START:Calculate\n!!!ARG:expression\n6 * 7\n!!!GADGET_END\n";
  await place.write("one.calls", calls);
  for (const run of [place.run(["run", "one.calls"]), place.run(["run", "-"], { stdin: calls })]) {
    const { code, stdout, stderr } = await run;
    assert.deepEqual([code, stdout.trim()], [0, "42"], stderr);
  }
});

binaryTest("it leaves nothing in the home and in the folder for temporary files", async (_t, program) => {
  await using place = await elsewhere(program);
  await place.write("one.calls", "!!!GADGET_START:Now\n!!!GADGET_END\n");
  for (let run = 0; run < 2; run++) assert.equal((await place.run(["run", "one.calls"])).code, 0);
  assert.deepEqual(await place.left(), []);
  assert.deepEqual((await namesIn(place.folder)).toSorted(), [".orrery", "one.calls"]); // the journal alone
});

binaryTest("it shows help, gadgets, schemas, completions and graphs", async (t, program) => {
  await using place = await elsewhere(program);
  await place.write(
    "two.calls",
    "!!!GADGET_START:Now:a\n!!!GADGET_END\n!!!GADGET_START:Now:b:a\n!!!GADGET_END\n",
  );
  const commands = [["--help"], ["list", "gadgets"], ["show", "gadget", "SqlQuery"], ["schema", "config"], [
    "completions",
    "bash",
  ]];
  for (const args of [...commands, ["graph", "two.calls"], ["graph", "two.calls", "--format", "svg"]]) {
    await t.step(args.join(" "), async () => {
      const { code, stdout, stderr } = await place.run(args);
      assert.equal(code, 0, stderr);
      assert.notEqual(stdout.trim(), "");
    });
  }
});

binaryTest("it reads PDF", async (_t, program) => {
  await using place = await elsewhere(program);
  await Deno.writeFile(join(place.folder, "bikes.pdf"), testPdf([["A cargo bike costs 30 a day."]]));
  await place.write("c.yml", "version: '0.1'\ndocuments:\n  - { id: prices, file: bikes.pdf }\n");
  const find = "{ id: find, retriever: { query: { name: asked }, target: { slot: { name: found } } } }";
  const keep = "{ id: keep, set-slot: { values: [{ path: { name: asked }, value: cargo bike }] } }";
  const steps = `[${keep}, ${find}, { id: say, message: { message: "{{found}}" } }]`;
  await place.write(
    "a.agent.yml",
    `version: "0.1"\nstructure: { id: a, action: { id: m, chain: ${steps} } }\n`,
  );
  const { code, stdout, stderr } = await place.run([
    "run",
    "a.agent.yml",
    "--collection",
    "c.yml",
    "--quiet",
  ]);
  assert.equal(code, 0, stderr);
  assert.match(stdout, /A cargo bike costs 30 a day\./);
});

binaryTest("the examples print what they print elsewhere", async (t, program) => {
  await using place = await elsewhere(program);
  for (const example of await exampleCases()) {
    await t.step(example.name, () => {
      if (example.needsPackages) return console.log("not run here: a binary loads no packages");
      return tryExample(example, place.run);
    });
  }
});

const SHOUT = `export default {
  name: "Shout",
  description: "Upper case.",
  input: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
  run: ({ text }) => text.toUpperCase(),
};
`;
const CALL_SHOUT = "!!!GADGET_START:Shout\n!!!ARG:text\nhello\n!!!GADGET_END\n";

const TYPED = SHOUT.replace("({ text })", "({ text }: { text: string })");
const DEFINED = `import { defineGadget } from "orrery";\n${
  TYPED.replace("default", "default defineGadget(").replace("};\n", "});\n")
}`;
const SHOUTS: readonly (readonly [what: string, file: string, source: string])[] = [
  ["in JavaScript", "shout.js", SHOUT],
  ["in TypeScript", "shout.ts", TYPED],
  ["that imports orrery", "shout.ts", DEFINED],
];

for (const [what, file, source] of SHOUTS) {
  binaryTest(`a gadget ${what} runs`, async (_t, program) => {
    await using place = await elsewhere(program);
    await place.write(file, source);
    await place.write("shout.calls", CALL_SHOUT);
    const { code, stdout, stderr } = await place.run(["run", "shout.calls", "--gadget", file]);
    assert.deepEqual([code, stdout.trim()], [0, "HELLO"], stderr);
  });
}

binaryTest(
  "a gadget that is wanted in the process itself runs there, TypeScript and orrery too",
  async (_t, program) => {
    await using place = await elsewhere(program);
    await place.write("shout.ts", DEFINED);
    await place.write("packed.ts", `import "npm:yaml@2.9.1";\n${TYPED.replace("Shout", "Packed")}`);
    const settings =
      "gadgets: { isolation: { shout.ts: none, packed.ts: none } }\ngrants: { shout.ts: trusted, packed.ts: trusted }\n";
    await place.write("orrery.yaml", settings);
    await place.write("shout.calls", CALL_SHOUT);
    const { code, stdout, stderr } = await place.run([
      "run",
      "shout.calls",
      "--gadget",
      "shout.ts",
      "--trust-project",
    ]);
    assert.deepEqual([code, stdout.trim()], [0, "HELLO"], stderr);
    const list = await place.run(["list", "gadgets", "--gadget", "packed.ts", "--trust-project"]);
    assert.match(
      list.stderr,
      /packed\.ts:1:\d+.*Cannot import "npm:yaml@2\.9\.1": the compiled orrery cannot load packages/,
    );
  },
);

binaryTest("a gadget that imports a package gives an error that says so", async (_t, program) => {
  await using place = await elsewhere(program);
  await place.write("shout.js", `import "npm:yaml@2.9.1";\n${SHOUT}`);
  await place.write("shout.calls", CALL_SHOUT);
  const { code, stdout, stderr } = await place.run(["run", "shout.calls", "--gadget", "shout.js"]);
  assert.notEqual(code, 0, stdout);
  assert.match(
    stderr,
    /shout\.js:1:\d+: Cannot import "npm:yaml@2\.9\.1": the compiled orrery cannot load packages/,
  );
  assert.doesNotMatch(stderr, /\bat async\b|deno-compile/, "no stack trace");
});

binaryTest("it starts fast", async (_t, program) => {
  const folder = await Deno.makeTempDir({ prefix: "orrery-empty-" });
  try {
    const emptyBinary = join(folder, "empty");
    const compiled = await compileEmpty(folder, emptyBinary);
    if (compiled.code !== 0) {
      return console.log(`not run here: an empty program cannot be compiled: ${compiled.stderr.trim()}`);
    }
    const rows = await startupWithin({ binary: program, emptyBinary });
    console.log(startupTable(rows));
    assert.ok(!rows.some(isFarOver), startupTable(rows));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

async function compileEmpty(folder: string, output: string): Promise<RunResult> {
  const script = join(folder, "empty.js");
  await Deno.writeTextFile(script, "");
  const flags = ["-A", "--no-check", "--no-config", "--no-lock", "--no-code-cache"];
  const runtime = Deno.env.get("DENORT_BIN");
  return runProgram([Deno.execPath(), "compile", ...flags, "-o", output, script], {
    cwd: folder,
    timeoutMs: 120_000,
    ...(runtime === undefined ? {} : { env: { DENORT_BIN: runtime } }),
  });
}

binaryTest("it reads YAML: settings and scripts", async (_t, program) => {
  await using place = await elsewhere(program);
  await place.write("orrery.yaml", "models: { default: script/hello.yaml }\n");
  await place.write("hello.yaml", '- text: "Hello."\n');
  const { code, stdout, stderr } = await place.run(["ask", "Hi", "--quiet"]);
  assert.deepEqual([code, stdout], [0, "Hello."], stderr);
  await place.write("orrery.yaml", "models: { defualt: x }\n");
  assert.match((await place.run(["ask", "Hi"])).stderr, /orrery\.yaml:1:11/);
});

binaryTest(
  "it talks to every provider, runs the calls of their models and keeps the run",
  async (t, program) => {
    for (
      const [provider, type] of [["openai", "openai"], ["anthropic", "anthropic"], ["google", "google"], [
        "chat",
        "",
      ]]
    ) {
      for (const mode of ["blocks", "native"]) {
        await t.step(`${provider}, ${mode}`, async () => {
          await using place = await elsewhere(program);
          const call = mode === "blocks"
            ? { text: "!!!GADGET_START:Calculate:c\n!!!ARG:expression\n6*7\n!!!GADGET_END\n" }
            : { call: { name: "Calculate", arguments: '{"expression":"6*7"}' } };
          await using server = providerServer([{ parts: [call] }, { parts: [{ text: "It is 42." }] }]);
          const settings = server.settings.providers?.[provider ?? ""];
          const own = { type: type || "openai-compatible", ...settings };
          await place.write(
            "orrery.yaml",
            JSON.stringify({ models: { providers: { [provider ?? ""]: own } } }),
          );
          const flags = [
            "-m",
            `${provider}/test`,
            "--tools",
            "Calculate",
            "--tools-mode",
            mode ?? "",
            "--trust-project",
          ];
          const env = {
            HOME: join(place.folder, "../home"),
            OPENAI_API_KEY: TEST_KEY,
            ANTHROPIC_API_KEY: TEST_KEY,
            GOOGLE_GENERATIVE_AI_API_KEY: TEST_KEY,
            CHAT_API_KEY: TEST_KEY,
          };
          const { code, stdout, stderr } = await place.run(["ask", "6 times 7?", ...flags], { env });
          assert.deepEqual([code, stdout], [0, "It is 42."], stderr);
          assert.match(JSON.stringify(server.requests.at(-1)?.body), /42/);
          assert.match((await place.run(["runs"], { env })).stdout, /done +ask/);
        });
      }
    }
  },
);
