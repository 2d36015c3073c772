import assert from "node:assert/strict";
import { COMMANDS, type CommandSpec } from "../lib/cli/flags/flags.ts";
import { commandHelp, overview, TOPICS } from "../lib/cli/help.ts";
import { parseFlags } from "../lib/cli/flags/parse.ts";
import { UsageError } from "../lib/service/exit_code.ts";

const run = (...args: string[]) => parseFlags(COMMANDS.run, args);

function problems(...args: string[]): string[] {
  try {
    run(...args);
  } catch (error) {
    assert(error instanceof UsageError);
    assert.equal(error.command, "run");
    return error.message.split("\n");
  }
  assert.fail(`no problem was found in ${args.join(" ")}`);
}

Deno.test("flags stand before and after the file, in every form", () => {
  const forms = [
    ["a.calls", "--output", "out", "--json", "--concurrency", "3"],
    ["--json", "--output=out", "--concurrency=3", "a.calls"],
    ["-o", "out", "a.calls", "--json", "--concurrency=3"],
    ["-oout", "--json", "--concurrency", "3", "--", "a.calls"],
    ["-o=out", "--concurrency=3", "--json", "a.calls"],
  ];
  for (const args of forms) {
    const { words, flags } = run(...args);
    assert.deepEqual(words, ["a.calls"], args.join(" "));
    assert.equal(flags.output, "out", args.join(" "));
    assert.equal(flags.json, true);
    assert.equal(flags.concurrency, 3);
  }
});

Deno.test("what was not typed is false, undefined or empty", () => {
  const { flags, wantsHelp } = run("-");
  assert.deepEqual(
    [flags.json, flags.output, flags.timeout, flags.trust, flags.gadget, flags["allow-read"], wantsHelp],
    [false, undefined, undefined, [], [], [], false],
  );
});

Deno.test("several letters go together, the last may have a value", () => {
  const { flags } = run("-qAo", "out", "-");
  assert.deepEqual([flags.quiet, flags["allow-all"], flags.output], [true, true, "out"]);
});

Deno.test("lists: --trust divides at commas and adds up, --gadget takes each as it is", () => {
  const { flags } = run("-", "--trust", "a,b", "--trust=c", "--gadget", "x,y.ts", "--gadget=z.ts");
  assert.deepEqual([flags.trust, flags.gadget], [["a", "b", "c"], ["x,y.ts", "z.ts"]]);
});

Deno.test("a grant has its list behind = only, and keeps it as written for the policy", () => {
  const { words, flags } = run(
    "--allow-read",
    "a.calls",
    "--allow-write=out,a,,b",
    "--allow-write=more",
    "--deny-net",
  );
  assert.deepEqual(words, ["a.calls"]);
  assert.deepEqual(flags["allow-read"], [true]);
  assert.deepEqual(flags["allow-write"], ["out,a,,b", "more"]);
  assert.deepEqual(flags["deny-net"], [true]);
});

Deno.test("behind -- nothing is a flag", () => {
  assert.deepEqual(run("--", "-odd.calls").words, ["-odd.calls"]);
});

Deno.test("every mistake is told at once, with what was likely meant", () => {
  assert.deepEqual(problems("--jsn", "--concurrency", "zero", "--timeout=0", "a", "b", "--json=yes", "-z"), [
    'Unknown flag --jsn. Did you mean "--json"?',
    '--concurrency must be a whole number from 1; found "zero"',
    '--timeout must be a number of seconds above 0; found "0"',
    '--json takes no value; found "yes"',
    "Unknown flag -z.",
    'orrery run takes FILE|PROMPT; found "b" too.',
  ]);
});

Deno.test("a value that is missing, given twice, or was meant for =", () => {
  assert.deepEqual(problems("-", "-o", "--json"), ["-o needs a value: -o FILE"]);
  assert.deepEqual(problems("-", "--output"), ["--output needs a value: --output FILE"]);
  assert.deepEqual(problems("-", "-o", "a", "--output=b"), ["--output is given twice"]);
  assert.deepEqual(problems("-json", "-"), ['Unknown flag -json. Did you mean "--json"?']);
  assert.deepEqual(problems("a.calls", "--allow-read", "data"), [
    'orrery run takes FILE|PROMPT; found "data" too. A list is written with =, so: --allow-read=data',
  ]);
  assert.match(problems()[0] ?? "", /^orrery run needs FILE\|PROMPT: /);
  assert.deepEqual(problems("-", "--concurrency=-3"), [
    '--concurrency must be a whole number from 1; found "-3"',
  ]);
});

Deno.test("where words are free or may be left out, none stands right behind a flag whose list is written with =", () => {
  const { ask, chat, check, resume, list } = COMMANDS;
  const grants = ask.flags.filter(({ kind }) => kind === "grant");
  assert.equal(grants.length, 10);
  for (const { name } of grants) {
    for (const args of [["go", `--${name}`, "out"], [`--${name}`, "out", "go"]]) {
      assert.throws(() => parseFlags(ask, args), {
        message: `found "out" behind --${name}. A list is written with =, so: --${name}=out; ` +
          "a word of the command goes before the flag, or behind --",
      });
    }
  }
  for (const spec of [chat, check, resume]) {
    assert.throws(() => parseFlags(spec, ["--allow-write", "out"]), UsageError, spec.name);
  }
  assert.deepEqual(parseFlags(ask, ["say", "hi", "--allow-write"]).words, ["say", "hi"]);
  assert.deepEqual(parseFlags(ask, ["--allow-write", "--", "say", "hi"]).words, ["say", "hi"]);
  assert.deepEqual(parseFlags(ask, ["--allow-write=out", "say", "-A", "hi"]).words, ["say", "hi"]);
  assert.deepEqual(parseFlags(list, ["--write-types", "prompts"]).words, ["prompts"]);
});

Deno.test("choices name all there are and the nearest", () => {
  assert.throws(() => parseFlags(COMMANDS.graph, ["a.calls", "--format", "txt"]), {
    message: '--format must be one of text, mermaid, svg; found "txt". Did you mean "text"?',
  });
  assert.throws(() => parseFlags(COMMANDS.show, ["gadgte", "X"]), {
    message:
      'KIND must be one of gadget, prompt, profile, document, agent, conversation, config; found "gadgte". Did you mean "gadget"?',
  });
});

Deno.test("--help wins over every mistake", () => {
  assert.equal(run("--nonsense", "--help").wantsHelp, true);
  assert.equal(run("-qh").wantsHelp, true);
});

Deno.test("help tells every topic, and every word and flag of the table", () => {
  for (const topic of Object.keys(TOPICS)) assert(overview().includes(`  ${topic} `), topic);
  const specs: readonly CommandSpec[] = Object.values(COMMANDS);
  for (const spec of specs) {
    const help = commandHelp(spec);
    assert(overview().includes(spec.summary));
    for (const flag of spec.flags) {
      assert(help.includes(`--${flag.name}`), `--${flag.name} in the help of ${spec.name}`);
    }
    for (const line of help.split("\n")) assert(line.length <= 100, `a line of ${line.length}: ${line}`);
  }
});

Deno.test("the table is sound: no name or letter twice, a value where one is needed", () => {
  const specs: readonly CommandSpec[] = Object.values(COMMANDS);
  for (const spec of specs) {
    const names = spec.flags.map((flag) => flag.name);
    const letters = spec.flags.flatMap((flag) => flag.short ?? []);
    assert.equal(new Set(names).size, names.length, spec.name);
    assert.equal(new Set(letters).size, letters.length, spec.name);
    for (const flag of spec.flags) {
      assert.equal(flag.value !== undefined, flag.kind !== "switch", `--${flag.name}`);
    }
  }
});
