// A document that another one runs (documents.md 10.3): it sees only its input.
import type { DocumentInputs } from "../../document/input_block.ts";
import { LiveDocument } from "../../document/live_document.ts";
import { nodeBodies, nodeTexts, piecesOf } from "../../document/live_node.ts";
import { type DocumentFile, parseResult, readDocument } from "../../parse/document/document.ts";
import type { InputValue } from "../../parse/document/operation.ts";
import type { DocumentProblem } from "../../parse/document/tree.ts";
import { isSaved, type Operation, pathOf, readFile } from "./operation.ts";
import { OperationError } from "./failure.ts";

/** How many files may run inside each other, the entry included (documents.md 10.6, 14). */
const MAX_DEPTH = 16;
const SHOWN_FILES = 3;

/** What a document gives to whoever runs it. */
export interface CalleeResult {
  readonly text: string;
  /** It came to an `@return`. */
  readonly isReturned: boolean;
  /** The headings among what it returns. */
  readonly blocks: readonly { readonly source: string; readonly id: string }[];
}

/** A document to be run by an operation. */
export interface WantedCallee {
  /** As the operation names it. */
  readonly file: string;
  readonly prompt?: string;
  readonly blocks: readonly string[];
  /** A heading line or `none`. */
  readonly header?: string;
  readonly inputs?: Readonly<Record<string, InputValue>>;
}

/** A document that is ready to run. */
export interface OpenedCallee {
  readonly file: DocumentFile;
  readonly live: LiveDocument;
  readonly chain: readonly DocumentFile[];
  readonly saved: Set<string>;
}

/** Reads and checks it, and puts its input before its first block. @throws {OperationError}, {FileError}, {BlockReferenceError} */
export async function openCallee(operation: Operation, wanted: WantedCallee): Promise<OpenedCallee> {
  const { run, means, live, chain, key } = operation;
  const path = pathOf(operation, wanted.file);
  const tooDeep = depthProblem(chain, path);
  if (tooDeep !== undefined) throw new OperationError(`@run ${tooDeep}`);
  if (isSaved(operation, path)) {
    throw new OperationError(
      `"${wanted.file}" is an answer of a model: it is not run, unless the @llm that saved it says run-generated: true`,
    );
  }
  const file = await readDocument(await readFile(operation, wanted.file), { path });
  const wrong = await checkedError(file, { run, means, key: `${key}/check`, chain });
  if (wrong !== undefined) throw new OperationError(wrong);
  const values = Object.entries(wanted.inputs ?? {}).map(([name, value]) =>
    [name, typeof value === "string" ? value : nodeBodies(live.select(value.blocks))] as const
  );
  const input = documentInputs(file, {
    text: nodeTexts(live.select(wanted.blocks)),
    prompt: wanted.prompt,
    header: wanted.header,
    values: new Map(values),
  });
  return {
    file,
    live: new LiveDocument(file.tree, { input }),
    chain: [...chain, file],
    saved: operation.saved,
  };
}

/** Why a document may not run inside those of the chain: the end of a sentence; undefined when it may. */
export function depthProblem(chain: readonly DocumentFile[], path: string): string | undefined {
  if (chain.length < MAX_DEPTH) return undefined;
  const first = [...chain.map((file) => file.path), path].slice(0, SHOWN_FILES).join(" -> ");
  return `is nested ${MAX_DEPTH} deep (${first} -> ...): a document that runs itself never ends`;
}

/** The line of the first error of a document that others run, as a run that is resumed found it; undefined when it has none. */
export async function checkedError(
  file: DocumentFile,
  { run, means, key, chain }: Pick<Operation, "run" | "means" | "key" | "chain">,
): Promise<string | undefined> {
  return await run.lookUp(key, async () => firstError(file, await means.check(file, chain)), {
    note: (found) => found ?? null,
    from: (noted) => noted === null ? undefined : String(noted),
  });
}

/** What a document is given. */
export interface GivenInput {
  /** Blocks, as text. */
  readonly text: string;
  readonly prompt?: string;
  readonly header?: string;
  readonly values: ReadonlyMap<string, string>;
}

/** The same as what stands before its first node. @throws {OperationError} for a value that is missing, or that it does not take */
export function documentInputs(
  file: DocumentFile,
  { text, prompt, header, values }: GivenInput,
): DocumentInputs {
  const { inputs } = file.settings;
  const unknown = [...values.keys()].find((name) => !inputs.some((input) => input.name === name));
  if (unknown !== undefined) throw new OperationError(`${file.path} has no input "${unknown}"`);
  const { nodes } = parseResult(text, { newline: file.tree.newline, operations: false });
  return {
    pieces: piecesOf(nodes),
    prompt: prompt?.trimEnd(),
    ...(header === undefined || header === "none" ? {} : { header }),
    values: inputs.map(({ name, default: fallback }) => {
      const value = values.get(name) ?? fallback;
      if (value === undefined) throw new OperationError(`input "${name}" needs a value`);
      return { name, value };
    }),
  };
}

/** What keeps a document from being run: the line of its first error. */
export function firstError(
  { path, problems }: DocumentFile,
  found: readonly DocumentProblem[] = [],
): string | undefined {
  const wrong = [...problems, ...found].find(({ severity }) => severity === "error");
  return wrong && `${path}:${wrong.line}:${wrong.column}: error: ${wrong.message}`;
}
