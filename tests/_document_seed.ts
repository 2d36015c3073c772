// The examples of the text that documents come from (tests/spec/document_seed/seed.txt): each as it stands there, in example.md, with
// the blocks that it refers to before and after it, and the files, tools and replies of a model that it needs.

import { join } from "node:path";
import { filesBelow, recordedMessages } from "./_document_cases.ts";
import { orrery, PROJECT_ROOT, testEnvironment } from "./_run.ts";
import type { RunResult } from "./_run.ts";

export const SEED_ROOT: string = join(PROJECT_ROOT, "tests/spec/document_seed");

/** case.json of an example. */
export interface SeedCase {
  readonly note: string;
  readonly args?: readonly string[];
  /** Programs that the example calls and that have no stand-in. */
  readonly needs?: readonly string[];
  /** What each tool gives, whatever it is asked. */
  readonly tools?: Readonly<Record<string, unknown>>;
  readonly stdout: string;
  /** A part of it. */
  readonly stderr?: string;
  /** What the model got, one list for each time that it was asked: the role and the text of each message. */
  readonly messages: readonly (readonly string[])[];
}

/** What a run of an example gave. */
export interface SeedRun {
  readonly result: RunResult;
  readonly messages: SeedCase["messages"];
  /** The documents that it left, by path. */
  readonly documents: ReadonlyMap<string, string>;
}

/** The names of all examples, in the order of the text. */
export function seedNames(): readonly string[] {
  return [...Deno.readDirSync(SEED_ROOT)].filter(({ isDirectory }) => isDirectory).map(({ name }) => name)
    .sort();
}

export function readSeed(name: string, file: string): string {
  return Deno.readTextFileSync(join(SEED_ROOT, name, file));
}

/** Runs an example in a folder of its own. */
export async function runSeed(name: string, { args = [], tools = {} }: SeedCase): Promise<SeedRun> {
  const folder = Deno.realPathSync(Deno.makeTempDirSync({ prefix: "orrery-seed-" }));
  const record = Deno.makeTempFileSync({ prefix: "orrery-seed-", suffix: ".jsonl" });
  try {
    prepare(folder, name, tools);
    const trusted = Object.keys(tools).flatMap((tool) => ["--trust", tool]);
    const path = `${join(folder, "bin")}:${testEnvironment().PATH ?? ""}`;
    const result = await orrery(["run", "main.md", "--ephemeral", "--record", record, ...trusted, ...args], {
      cwd: folder,
      env: { PATH: path },
    });
    const documents = [...filesBelow(folder)].filter(([file]) => file.endsWith(".ctx"));
    return {
      result,
      messages: recordedMessages(Deno.readTextFileSync(record)).map((call) => call.map(messageLine)),
      documents: new Map(documents.map(([file, bytes]) => [file, new TextDecoder().decode(bytes)])),
    };
  } finally {
    Deno.removeSync(folder, { recursive: true });
    Deno.removeSync(record);
  }
}

/** The result documents that an example is to leave, by path. */
export function expectedDocuments(name: string): ReadonlyMap<string, string> {
  const expected = [...filesBelow(join(SEED_ROOT, name, "expected"))];
  return new Map(expected.map(([file, bytes]) => [file, new TextDecoder().decode(bytes)]));
}

function prepare(folder: string, name: string, tools: Readonly<Record<string, unknown>>): void {
  const files = filesBelow(join(SEED_ROOT, name));
  const text = (file: string) => new TextDecoder().decode(files.get(file));
  const write = (file: string, bytes: string | Uint8Array) => {
    Deno.mkdirSync(join(folder, file, ".."), { recursive: true });
    const content = typeof bytes === "string" ? new TextEncoder().encode(bytes) : bytes;
    Deno.writeFileSync(join(folder, file), content, { mode: file.startsWith("bin/") ? 0o755 : 0o644 });
  };
  const after = files.has("after.md") ? `\n${text("after.md")}` : "";
  write("main.md", (files.has("before.md") ? text("before.md") : "") + text("example.md") + after);
  write("orrery.yaml", "models: { default: script/model.yml }\n");
  for (const [file, bytes] of files) {
    if (file.startsWith("files/")) write(file.slice("files/".length), bytes);
  }
  for (const [tool, result] of Object.entries(tools)) {
    const gadget = `export default { name: ${JSON.stringify(tool)}, description: "A tool.", ` +
      `input: { type: "object" }, run: () => (${JSON.stringify(result)}) };\n`;
    write(`gadgets/${tool}.js`, gadget);
  }
}

function messageLine(message: unknown): string {
  const { role, content, tool_calls: calls = [] } = message as {
    role: string;
    content: string;
    tool_calls?: readonly { name: string; arguments: string }[];
  };
  return [`${role}: ${content}`, ...calls.map((call) => `${call.name} ${call.arguments}`)].join("\n");
}
