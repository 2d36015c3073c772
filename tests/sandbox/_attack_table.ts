// Attacks of our own: the modules of tests/sandbox/attacks/, and what each call of them must end in.

import assert from "node:assert/strict";
import type { Outcome } from "./_place.ts";

/** A module, what it is granted, and what must come of it. */
export interface OwnAttack {
  /** In tests/sandbox/attacks/. */
  readonly file: string;
  readonly what: string;
  /** Of `--allow-gadget` without its name. */
  readonly grants?: readonly string[];
  readonly args?: readonly string[];
  /** Files beside it, in the project; a value that begins with `-> ` is where a link leads. */
  readonly files?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string;
  /** Each is one call, with this as `way`. Default: one call without it. */
  readonly ways?: readonly string[];
  /** Default 2. */
  readonly timeoutSeconds?: number;
  /** What may have been written, by its path from the folder above the project. */
  readonly written?: RegExp;
  /** The most that a process of a gadget may hold, in MB. Default 700. */
  readonly childMb?: number;
  /** The same of Orrery. Default 700. */
  readonly ownMb?: number;
  /** What must hold of the end of a call. Secrets, left processes and the like are looked at besides. */
  readonly ends: (outcome: Outcome, way: string) => void;
}

/** It tried many ways and told what it got by any: nothing. */
function gotNothing({ result, error }: Outcome): void {
  assert.ok(typeof result === "object" && result !== null, `no result: ${error}`);
  assert.ok("tried" in result && "got" in result && Number(result.tried) > 0, JSON.stringify(result));
  assert.deepEqual(result.got, []);
}

function isError({ isError, error, result }: Outcome, way = ""): void {
  assert.ok(isError, `${way}: ${JSON.stringify(result)?.slice(0, 300)}`);
  assert.notEqual(error.trim(), "", way);
  assert.ok(error.length < 100_000, `${way}: an error of ${error.length} characters`);
}

/** An error, or this result. */
const errorOr = (...results: readonly unknown[]) => (outcome: Outcome, way: string): void => {
  if (outcome.isError) isError(outcome, way);
  else {assert.ok(
      results.includes(outcome.result),
      `${way}: ${JSON.stringify(outcome.result)?.slice(0, 300)}`,
    );}
};

const ENDLESS_TEXTS = ["small", "large", "neverEnds", "byHand"];

/** What is left of a result that is too large is as much as a result may be, and a mark. */
function assertCut({ result }: Outcome, way: string): void {
  const { length } = typeof result === "string" ? result : JSON.stringify(result);
  assert.ok(length < 1.1 * 2 ** 20, `${way}: ${length} characters`);
}

const DONE = errorOr("done");

/** These ways are errors, all others give "done". */
const doneBut = (...errors: readonly string[]) => (outcome: Outcome, way: string): void => {
  if (errors.includes(way)) isError(outcome, way);
  else assert.equal(outcome.result, "done", `${way}: ${outcome.error}`);
};

const MEMORY_WAYS = ["buffers", "gigabytes", "wasm", "resizable", "shared", "waiting", "texts", "blobs"];

/** By their names in the test. */
export const OWN_ATTACKS: readonly OwnAttack[] = [
  {
    file: "internals.js",
    what: "native code, loaders, isolates, sockets",
    timeoutSeconds: 20,
    ends: gotNothing,
  },
  { file: "code_from_strings.js", what: "code made at run time", timeoutSeconds: 10, ends: gotNothing },
  {
    file: "forged_messages.js",
    what: "forged frames on every stream and descriptor",
    timeoutSeconds: 20,
    ends: ({ result, error }) => assert.deepEqual(result, { honest: true, stolen: [] }, error),
  },
  { file: "loopback_port.js", what: "the port of Orrery", timeoutSeconds: 20, ends: gotNothing },
  {
    file: "messages_of_the_process.js",
    what: "what the code around it keeps",
    timeoutSeconds: 10,
    ends: gotNothing,
  },
  {
    file: "globals_replaced.js",
    what: "globals replaced before its run",
    ends: errorOr("seen: ."),
  },
  { file: "late_messages.js", what: "messages after the end of a call", ends: DONE },
  {
    file: "paths.js",
    what: "paths out of what is granted",
    grants: ["read:data", "write:out"],
    timeoutSeconds: 20,
    files: {
      "data/fine.txt": "fine",
      "data-more/secret.txt": "TOPSECRET",
      "data/link": "-> @OUTSIDE@",
      "data/linked.txt": "-> @SECRET_TXT@",
      "data/chain.txt": "-> linked.txt",
      "out/own.txt": "own",
      "out/link": "-> @OUTSIDE@",
      "out/linked.txt": "-> @SECRET_TXT@",
      "out/dangling.txt": "-> @OUTSIDE@/new.txt",
      "orrery.yaml": "{}\n",
    },
    written: /^project\/out(\/|$)/,
    ends: gotNothing,
  },
  {
    file: "own_files.js",
    what: "the journal, the lock and the kept descriptions",
    args: ["--trust", "Attack"],
    timeoutSeconds: 20,
    files: { ".orrery/gadgets.json": "{}", "to-state": "-> .orrery" },
    written: /^project\/own\.txt$/,
    ends: gotNothing,
  },
  {
    file: "kernel_files.js",
    what: "files of the kernel, with every file granted",
    grants: ["read", "write"],
    files: { "orrery.yaml": "{}\n", "to-kernel": "-> /proc" },
    timeoutSeconds: 20,
    ends: gotNothing,
  },
  {
    file: "node_modules.js",
    what: "packages beside it",
    timeoutSeconds: 10,
    files: {
      "gadgets/node_modules/kept/package.json": `{"name":"kept","main":"index.js"}`,
      "gadgets/node_modules/kept/index.js": `export default "TOPSECRET";`,
      "gadgets/node_modules/kept/secret.json": `"TOPSECRET"`,
      "gadgets/_linked.json": "-> @SECRET_JSON@",
      "orrery.yaml": "{}\n",
    },
    ends: gotNothing,
  },
  {
    file: "loopback_spellings.js",
    what: "this machine under other names",
    grants: ["net"],
    timeoutSeconds: 30,
    ends: gotNothing,
  },
  {
    file: "floods.js",
    what: "more logs, progress and effects than anybody reads",
    timeoutSeconds: 1,
    ways: [
      "log without end",
      "console without end",
      "progress without end",
      "log and wait",
      "one huge log",
      "many small logs",
      "rejections",
      "effects without end",
      "effects at once",
    ],
    ends: DONE,
  },
  {
    file: "endless_stream.js",
    what: "streams that never end",
    timeoutSeconds: 1,
    ways: ["small", "large", "empty", "slow", "neverEnds", "notText", "lateThrow", "byHand"],
    // One that is too large is cut as a result is, and nobody reads on.
    ends: (outcome, way) =>
      outcome.isError || !ENDLESS_TEXTS.includes(way) ? isError(outcome, way) : assertCut(outcome, way),
  },
  {
    file: "big_results.js",
    what: "results of 100 MB and more",
    ways: ["text", "escapes", "numbers", "keys", "deep", "wide", "bytes", "message", "stack", "name"],
    childMb: 1500,
    timeoutSeconds: 10,
    ends: (outcome, way) => {
      if (outcome.isError) isError(outcome, way);
      else assertCut(outcome, way);
    },
  },
  { file: "memory.js", what: "memory without end", ways: MEMORY_WAYS, childMb: 1200, ends: isError },
  { file: "fork_bomb.js", what: "processes without end", timeoutSeconds: 10, ends: gotNothing },
  {
    file: "exits.js",
    what: "ends of the process",
    timeoutSeconds: 1,
    ways: [
      "exit",
      "processExit",
      "reallyExit",
      "abort",
      "killed",
      "stackOverflow",
      "throwsNothing",
      "throwsProxy",
      "throwsGetter",
      "throwsEndless",
      "microtaskLoop",
      "catastrophe",
      "atomics",
      "neverSettles",
      "ignoresAbort",
    ],
    ends: isError,
  },
  {
    file: "exits.js",
    what: "errors that nobody waits for",
    timeoutSeconds: 1,
    ways: [
      "microtask",
      "microtaskThrow",
      "timer",
      "timerThrow",
      "afterwards",
      "rejection",
      "rejectedThenable",
      "reportError",
      "listener",
      "handlers",
      "debugger",
    ],
    ends: DONE,
  },
  {
    file: "exits.js",
    what: "what is no end at all",
    timeoutSeconds: 1,
    ways: ["rejection", "timerThrow", "microtaskThrow", "listener", "debugger"],
    ends: doneBut(),
  },
  {
    file: "strange_results.js",
    what: "results that are not what they look like",
    timeoutSeconds: 1,
    ways: [
      "toJSON",
      "toJSONThrows",
      "toJSONLoops",
      "getter",
      "getterThrows",
      "getterGrows",
      "proxy",
      "proxyEndless",
      "proxyLoops",
      "proto",
      "protoDeep",
      "events",
      "frameLike",
      "bigint",
      "cycle",
      "function",
      "symbol",
      "nan",
      "holes",
      "date",
      "map",
      "lone",
      "nul",
      "escapes",
      "newlines",
      "thenable",
      "thenableEndless",
      "thenableTwice",
      "objectWithIterator",
      "iteratorThrows",
      "iteratorLies",
      "arrayWithToJSON",
      "revoked",
      "undefined",
    ],
    ends: strangeEnd,
  },
  { file: "exits_on_load.js", what: "an exit while it loads", ends: isError },
  { file: "grows_on_load.js", what: "memory without end while it loads", childMb: 1200, ends: isError },
  {
    file: "environment.js",
    what: "variables, user and machine",
    grants: ["env:GRANTED_ONE"],
    env: { GRANTED_ONE: "fine" },
    timeoutSeconds: 10,
    ends: (outcome) => {
      gotNothing(outcome);
      assert.ok(typeof outcome.result === "object" && outcome.result !== null && "granted" in outcome.result);
      assert.equal(outcome.result.granted, "fine");
    },
  },
  {
    file: "standard_input.js",
    what: "what is piped into Orrery",
    stdin: "TOPSECRET typed\n",
    timeoutSeconds: 10,
    ends: gotNothing,
  },
  {
    file: "paths_in_stacks.js",
    what: "paths of this machine in errors",
    ways: ["thrown", "below", "refused", "later", "cause", "all", "callback", "importing"],
    ends: isError,
  },
  {
    file: "lying_manifest.js",
    what: "a description that changes",
    ends: errorOr("refused,refused", "refused,nothing"),
  },
  {
    file: "forged_messages.js",
    what: "forged frames, with files that it may read and write",
    grants: ["read:data", "write:out"],
    files: { "data/fine.txt": "fine", "out/own.txt": "own" },
    timeoutSeconds: 20,
    ends: ({ result, error }) => assert.deepEqual(result, { honest: true, stolen: [] }, error),
  },
];

/** These cannot be written as JSON, so that they are errors. */
const NO_JSON = [
  "toJSONThrows",
  "toJSONLoops",
  "getterThrows",
  "getterGrows",
  "proxyEndless",
  "proxyLoops",
  "bigint",
  "cycle",
  "function",
  "symbol",
  "thenableEndless",
  "iteratorThrows",
  "iteratorLies",
  "revoked",
];

const EXACTLY: Readonly<Record<string, unknown>> = {
  events: { type: "run-end", status: "done", seq: 1, run: "x" },
  frameLike: { type: "result", id: 1, value: "FORGED" },
  thenable: "from then",
  thenableTwice: "first",
  nul: "a\0b",
  escapes: "\u001b[2J\u001b]0;owned\u0007",
  newlines: '"}\n{"type":"call-result","invocationId":"z","result":"FORGED"}\n',
};

function strangeEnd(outcome: Outcome, way: string): void {
  if (NO_JSON.includes(way)) isError(outcome, way);
  else if (Object.hasOwn(EXACTLY, way)) {
    assert.deepEqual(outcome.result, EXACTLY[way], `${way}: ${outcome.error}`);
  } else if (typeof outcome.result === "object" && outcome.result !== null) {
    assert.equal(Object.getPrototypeOf(outcome.result).isAdmin, undefined, way);
  }
}

/** They load for ever: a test of their own waits for all of them at once. */
export const NEVER_LOADED: readonly string[] = ["never_loads.js", "loads_for_ever.js"];
