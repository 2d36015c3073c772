// The cases of tests/spec/documents: each is a folder that is run by the command line, as its README says.

import { createHash } from "node:crypto";
import { join } from "node:path";
import { PROJECT_ROOT } from "./_run.ts";

export const CASES_ROOT: string = join(PROJECT_ROOT, "tests/spec/documents");

/** case.json. */
export interface DocumentCase {
  readonly note: string;
  readonly args: readonly string[];
  readonly model: string;
  readonly aliases?: Readonly<Record<string, string>>;
  readonly tools?: Readonly<Record<string, { readonly result: unknown }>>;
  readonly env?: Readonly<Record<string, string>>;
  readonly exitCode: number;
  readonly stdout: string;
  readonly error?: string;
  readonly messages: readonly (readonly unknown[])[];
  readonly files?: Readonly<Record<string, string>>;
}

/** The names of all cases. */
export function caseNames(): readonly string[] {
  return [...Deno.readDirSync(CASES_ROOT)].filter(({ isDirectory }) => isDirectory).map(({ name }) => name)
    .sort();
}

export function readCase(name: string): DocumentCase {
  return JSON.parse(Deno.readTextFileSync(join(CASES_ROOT, name, "case.json")));
}

/** Copies the input of a case to an empty folder, with the project that it runs in. */
export function prepareCase(name: string, { model, aliases, tools = {} }: DocumentCase): string {
  const folder = Deno.realPathSync(Deno.makeTempDirSync({ prefix: "orrery-document-" }));
  copy(join(CASES_ROOT, name), folder, (file) => file !== "case.json" && !file.startsWith("expected"));
  const models = {
    ...(model === "" ? {} : { default: model }),
    ...(aliases === undefined ? {} : { aliases }),
  };
  Deno.writeTextFileSync(join(folder, "orrery.yaml"), JSON.stringify({ models }));
  if (Object.keys(tools).length > 0) Deno.mkdirSync(join(folder, "gadgets"), { recursive: true });
  for (const [tool, { result }] of Object.entries(tools)) {
    const gadget = `export default { name: ${JSON.stringify(tool)}, description: "A tool.", ` +
      `input: { type: "object" }, run: () => (${JSON.stringify(result)}) };\n`;
    Deno.writeTextFileSync(join(folder, "gadgets", `${tool}.js`), gadget);
  }
  return folder;
}

function copy(from: string, to: string, isWanted: (name: string) => boolean): void {
  for (const { name, isDirectory } of Deno.readDirSync(from)) {
    if (!isWanted(name)) continue;
    if (isDirectory) {
      Deno.mkdirSync(join(to, name), { recursive: true });
      copy(join(from, name), join(to, name), () => true);
    } else Deno.copyFileSync(join(from, name), join(to, name));
  }
}

/** Every file below a folder, by its path with `/`. */
export function filesBelow(folder: string): ReadonlyMap<string, Uint8Array> {
  const found = new Map<string, Uint8Array>();
  const walk = (inside: string): void => {
    for (const { name, isDirectory } of Deno.readDirSync(join(folder, inside))) {
      const path = inside === "" ? name : `${inside}/${name}`;
      if (isDirectory) walk(path);
      else found.set(path, Deno.readFileSync(join(folder, path)));
    }
  };
  walk("");
  return found;
}

/** The result documents and other files that a case is to leave, by path. */
export function expectedFiles(name: string, { files = {} }: DocumentCase): ReadonlyMap<string, string> {
  const expected = new Map(Object.entries(files));
  for (const { name: file } of Deno.readDirSync(join(CASES_ROOT, name))) {
    if (!file.startsWith("expected")) continue;
    const path = file === "expected.ctx" ? "main.ctx" : file.slice("expected.".length).replaceAll("__", "/");
    expected.set(path, Deno.readTextFileSync(join(CASES_ROOT, name, file)));
  }
  return expected;
}

interface RecordLine {
  readonly type: string;
  readonly key?: string;
  readonly kind?: string;
  readonly input?: { readonly messages: readonly Message[] };
  readonly outcome?: {
    readonly ok?: { readonly text: string; readonly calls: readonly Call[]; readonly data?: string };
  };
}

interface Call {
  readonly name: string;
  readonly arguments: string;
}

interface Message {
  readonly role: string;
  readonly content: unknown;
  readonly calls?: readonly Call[];
  readonly name?: string;
}

/**
 * The messages of every model call in a record, in their order. A step has what is new since the step before it of the same operation:
 * the answer between the two is that step's own.
 */
export function recordedMessages(record: string): readonly (readonly unknown[])[] {
  const all: (readonly unknown[])[] = [];
  const soFar = new Map<string, unknown[]>();
  /** What was read, by its hash: a question names it alone. */
  const media = new Map<string, string>();
  for (const text of record.split("\n")) {
    if (text === "") continue;
    const line: RecordLine = JSON.parse(text);
    const { data } = line.outcome?.ok ?? {};
    if (data !== undefined) media.set(createHash("sha256").update(data).digest("hex"), data);
    const turn = /^(?<place>.*)turn\[(?<n>\d+)\]\/model$/.exec(line.key ?? "")?.groups;
    if (turn === undefined) continue;
    const { place = "", n = "" } = turn;
    if (line.type === "step") {
      const messages = n === "1" ? [] : soFar.get(place) ?? [];
      messages.push(...(line.input?.messages ?? []).map((message) => caseMessage(message, media)));
      soFar.set(place, messages);
      all.push([...messages]);
    }
    const answer = line.type === "outcome" ? line.outcome?.ok : undefined;
    if (answer !== undefined) {
      const { text: content, calls } = answer;
      soFar.get(place)?.push(caseMessage({ role: "assistant", content, calls }));
    }
  }
  return all;
}

function caseMessage(
  { role, content, calls = [], name }: Message,
  media: ReadonlyMap<string, string> = new Map(),
): unknown {
  return {
    role,
    ...(name !== undefined && { name }),
    content: Array.isArray(content)
      ? content.map((part) =>
        part.type === "media"
          ? { type: part.type, media_type: part.mediaType, data: media.get(part.sha256) }
          : { type: part.type, text: part.text }
      )
      : content,
    ...(calls.length > 0 &&
      { tool_calls: calls.map(({ name, arguments: text }) => ({ name, arguments: text })) }),
  };
}
