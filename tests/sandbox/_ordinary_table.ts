// Ordinary gadgets, tests/sandbox/ordinary/: what their calls give, the same under `deno run` and in the compiled binary.

import { callOf, type Told } from "./_place.ts";

/** What is expected of one call: a result, or an error. */
export type Expected =
  | { readonly result: unknown }
  | { readonly error: RegExp; readonly code: string }
  | { readonly length: number };

/** A gadget, its calls, and what they give. */
export interface Ordinary {
  /** In tests/sandbox/ordinary/. */
  readonly file: string;
  readonly grants?: readonly string[];
  readonly files?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
  /** Default 1. */
  readonly concurrency?: number;
  /** @param server the address of a server on loopback */
  readonly calls: (server: string) => string;
  /** By the ids of the calls. */
  readonly expected: Readonly<Record<string, Expected>>;
  /** The texts of these events of the call, in order; of progress `done/total`. */
  readonly told?: Readonly<Record<string, readonly string[]>>;
  readonly written?: RegExp;
  /** What a person reads on stderr, without `--jsonl`. */
  readonly says?: RegExp;
}

/** The text of an event of a call. */
export function textOf(event: Told & { readonly done?: number; readonly total?: number }): string {
  return event.type === "call-progress" ? `${event.done}/${event.total}` : event.text ?? "";
}

const ABC = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
const NOTES = { "data/a.txt": "one\ntwo\n", "data/b.txt": "three\n", "orrery.yaml": "{}\n" };

/** All of them. */
export const ORDINARY: readonly Ordinary[] = [
  {
    file: "greet.ts",
    calls: () =>
      callOf("Greet:a", { name: "Ana" }) + callOf("Greet:b", { name: "Bo", times: 2 }) + callOf("Greet:c"),
    expected: {
      a: { result: "Hello, Ana!" },
      b: { result: "Hello, Bo! Hello, Bo!" },
      c: { error: /name/, code: "input" },
    },
  },
  {
    file: "read_notes.ts",
    grants: ["ReadNotes=read:data"],
    files: NOTES,
    calls: () => callOf("ReadNotes:a"),
    expected: {
      a: {
        result: {
          notes: [{ name: "a.txt", lines: 2 }, { name: "b.txt", lines: 1 }],
          size: 8,
          isFile: true,
          missing: "NotFound",
          refused: "NotCapable",
        },
      },
    },
  },
  {
    file: "write_report.ts",
    grants: ["WriteReport=read:out", "WriteReport=write:out"],
    calls: () => callOf("WriteReport:a"),
    expected: {
      a: { result: { names: ["copy.txt", "renamed.bin"], text: "one\ntwo\n", bytes: [0, 1, 255] } },
    },
    written: /^project\/out/,
  },
  {
    file: "node_files.ts",
    grants: ["NodeFiles=read:data,out", "NodeFiles=write:out"],
    files: NOTES,
    calls: () => callOf("NodeFiles:a"),
    expected: {
      a: {
        result: {
          path: "data/a.txt",
          name: "a",
          text: "one\ntwo\n",
          later: "later",
          exists: [true, false],
          names: ["b.txt"],
          isFolder: true,
          code: "ENOENT",
          hasEnv: false,
        },
      },
    },
    written: /^project\/out/,
  },
  {
    file: "fetch_local.ts",
    grants: ["FetchLocal=net:127.0.0.1"],
    calls: (url) => callOf("FetchLocal:a", { url }),
    expected: {
      a: {
        result: {
          json: { path: "/json?x=1", own: "yes" },
          type: "application/json",
          posted: { a: [1, "ü"] },
          moved: [200, "/text", "plain"],
          missing: [false, 404],
          bytes: [0, 128, 255],
        },
      },
    },
  },
  {
    file: "fetch_local.ts",
    calls: (url) => callOf("FetchLocal:a", { url }),
    grants: ["FetchLocal=net:example.com"],
    expected: { a: { error: /--allow-gadget "?FetchLocal=net:127\.0\.0\.1/, code: "permission" } },
    says: /--allow-gadget/,
  },
  {
    file: "environment.ts",
    grants: ["Environment=env:REGION"],
    env: { REGION: "north" },
    calls: () => callOf("Environment:a"),
    expected: { a: { result: { region: "north", node: "north", other: null, has: true } } },
  },
  {
    file: "stream_words.ts",
    calls: () => callOf("StreamWords:a", { count: 3 }) + callOf("StreamWords:b", { count: 2000 }),
    expected: { a: { result: "word 1, word 2, word 3." }, b: { length: 20_892 } },
  },
  {
    file: "progress.ts",
    calls: () => callOf("Progress:a"),
    expected: { a: { result: { invocationId: "a", name: "Progress" } } },
    told: { "call-progress": ["1/3", "2/3", "3/3"], "call-log": ["step 1", "step 2", "step 3"] },
  },
  {
    file: "console_talk.ts",
    calls: () => callOf("ConsoleTalk:a"),
    expected: { a: { result: null } },
    told: {
      "call-log": ["plain text 42", "an error", "{ a: [ 1, { b: 2 } ] }", "to stdout", "to stderr"],
    },
  },
  {
    file: "big_result.ts",
    calls: () => callOf("BigResult:a", { kib: 900 }) + callOf("BigResult:b", { kib: 3000 }),
    expected: { a: { length: 900 * 1024 }, b: { length: 1024 * 1024 } },
  },
  {
    file: "relative_parts.ts",
    calls: () => callOf("RelativeParts:a"),
    expected: {
      a: {
        result: {
          areas: [9, 13],
          said: ["later: a", "later: b", "later: c"],
          words: { words: ["one", "two"], "ü": null },
          url: "/relative_parts.ts",
        },
      },
    },
  },
  {
    file: "typescript.ts",
    calls: () => callOf("TypeScript:a"),
    expected: {
      a: {
        result: {
          levels: [1, 2, "High"],
          fixed: "a",
          text: "<t><t>",
          inside: "inside",
          pair: ["x", 1],
          value: 5,
          generic: 3,
        },
      },
    },
  },
  {
    file: "stack_trace.ts",
    calls: () =>
      callOf("StackTrace:a", { where: "here" }) + callOf("StackTrace:b", { where: "there" }) +
      callOf("StackTrace:c", { where: "later" }),
    expected: {
      a: { error: /failed here/, code: "failed" },
      b: { error: /failed there/, code: "failed" },
      c: { error: /failed later/, code: "failed" },
    },
    says:
      /gadgets\/stack_trace\.ts:14:11[^]*gadgets\/_parts\/fails\.ts:5:9[^]*gadgets\/stack_trace\.ts:14:11/,
  },
  {
    file: "hashes.ts",
    calls: () => callOf("Hashes:a"),
    expected: {
      a: { result: { same: true, node: ABC, random: 8, uuid: 36, equal: true, zipped: "text" } },
    },
  },
  {
    file: "own_schema.ts",
    calls: () => callOf("OwnSchema:a", { count: 4 }) + callOf("OwnSchema:b", { count: "many" }),
    expected: { a: { result: 41 }, b: { error: /expected a whole number/, code: "input" } },
  },
  {
    file: "formatted.ts",
    calls: () => callOf("Formatted:a", { text: "one two three" }),
    expected: { a: { result: { words: 3 } } },
  },
  {
    file: "described.ts",
    calls: () => callOf("Described:a", { n: 1 }) + callOf("Described:b", { n: 0 }),
    expected: { a: { result: 2 }, b: { error: /n/, code: "input" } },
  },
  {
    file: "patience.ts",
    calls: () => callOf("Patience:a") + callOf("Patience:b", { ask: "true" }),
    expected: { a: { error: /300 ms|0\.3 s|timed out|took longer/i, code: "timeout" }, b: { result: 1 } },
  },
  {
    file: "at_once.ts",
    concurrency: 8,
    calls: () => Array.from({ length: 6 }, (_, n) => callOf(`AtOnce:c${n}`)).join("") + callOf("AtOnce:z:c5"),
    expected: { z: { result: { most: 2, calls: 7 } } },
  },
  {
    file: "depends.ts",
    calls: () =>
      callOf("Calculate:x", { expression: "1+1" }) + callOf("Calculate:y", { expression: "2*3" }) +
      callOf("Depends:a:x,y"),
    expected: { a: { result: [2, 6] } },
  },
  {
    file: "web_interfaces.ts",
    calls: () => callOf("WebInterfaces:a"),
    expected: {
      a: {
        result: {
          text: "zip zip",
          heard: "x",
          over: { over: true },
          url: "https://example.com/b?c=d",
          query: "a=%C3%BC",
          clone: 2,
          base: "bytes",
          number: "12,345.6",
          date: "1970-01-01T00:00:00.000Z",
          headers: [["a", "1"], ["b", "2"]],
          form: ["a"],
          random: 4,
          micro: "micro",
          language: "string",
        },
      },
    },
  },
  {
    file: "runs_command.ts",
    grants: ["RunsCommand=run:printf"],
    calls: () => callOf("RunsCommand:a"),
    expected: { a: { result: { code: 0, text: "a b-$HOME", sync: "sync", refused: "refused" } } },
  },
  {
    file: "counter.ts",
    calls: () => callOf("Counter:a") + callOf("Counter:b") + callOf("Counter:c"),
    expected: { a: { result: 1 }, b: { result: 2 }, c: { result: 3 } },
  },
];
