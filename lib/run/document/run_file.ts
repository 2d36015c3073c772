// The run of one document (documents.md 6.7, 9): operation after operation, each a step of the run, until the end or an @return.
import { narrowedBy, NOT_NARROWED } from "../../check/narrowing.ts";
import { toldMs } from "../../core/core.ts";
import { BlockReferenceError } from "../../document/find_block.ts";
import { LiveDocument } from "../../document/live_document.ts";
import { type LiveNode, nodeBodies, nodeTexts } from "../../document/live_node.ts";
import { mayHaveOperations, readDocument } from "../../parse/document/document.ts";
import { headingLine } from "../../parse/document/lines.ts";
import type {
  Condition,
  GotoFields,
  ImportFields,
  LlmFields,
  ReturnFields,
  RunFields,
} from "../../parse/document/operation.ts";
import { BudgetError, budgetReached } from "../budget.ts";
import { type CalleeResult, firstError, openCallee, type OpenedCallee, type WantedCallee } from "./callee.ts";
import { CalleeFailure, DocumentFailure, isOperationFailure, OperationError } from "./failure.ts";
import { performLlmOperation } from "./llm.ts";
import { type DocumentMeans, limitsOf } from "./means.ts";
import {
  type FileWorld,
  insertResult,
  isSaved,
  KnownOperations,
  type Operation,
  pathOf,
  readFile,
  resultNodes,
  targetOf,
  warn,
} from "./operation.ts";
import { performShell } from "./shell.ts";
import { resultPath } from "./files.ts";
import type { Run } from "../run.ts";

/** How a document ended. */
export interface DocumentEnd {
  /** Absent: it came to no `@return`. */
  readonly returned?: CalleeResult;
  /** The last answer of a model, as it was. */
  readonly answer?: string;
}

/** What a document is run with. */
export interface FileRunOptions extends OpenedCallee {
  readonly run: Run;
  readonly means: DocumentMeans;
  /** Before the keys of its steps. */
  readonly keyPrefix: string;
}

/** Runs a document and keeps its result document. @throws {DocumentFailure} and what ends the whole run */
/** Where the run goes on: below what is done, at a target, or nowhere. */
type Onward = { readonly at: LiveNode } | { readonly returned: CalleeResult } | undefined;

/** Runs a document and keeps its result document. @throws {DocumentFailure} and what ends the whole run */
export async function runFile(
  { run, means, file, live, chain, saved, keyPrefix }: FileRunOptions,
): Promise<DocumentEnd> {
  /** How often the run came to each operation, by its place. */
  const visits = new Map<string, number>();
  const done = new Set<LiveNode>();
  const jumpsTo = new Map<LiveNode, number>();
  let lastAnswer: string | undefined;
  const world: FileWorld = {
    run,
    means,
    file,
    live,
    chain,
    narrowing: chain.reduce(narrowedBy, NOT_NARROWED),
    known: new KnownOperations(file),
    saved,
    importedBy: new WeakMap(),
  };

  async function walk(): Promise<CalleeResult | undefined> {
    means.narrow?.(world.narrowing);
    let node = live.first;
    while (node !== undefined) {
      if (node.content.kind !== "operation") {
        node = live.next(node);
        continue;
      }
      run.signal.throwIfAborted();
      const onward = await operation(node);
      if (onward !== undefined && "returned" in onward) return onward.returned;
      node = onward === undefined ? live.after(node) : onward.at;
    }
    return undefined;
  }

  async function keepResult(): Promise<void> {
    const operations = live.all().filter(({ content }) => content.kind === "operation").length;
    await means.result?.({
      path: resultPath(file.path),
      text: live.print(),
      depth: chain.length,
      operations,
    });
  }

  async function operation(node: LiveNode): Promise<Onward> {
    const operation = begun(node);
    const { key } = operation;
    await refuseLate(key);
    const name = `@${operation.fields.name} ${operation.from}:${node.content.line}`;
    const why = skipped(operation);
    if (typeof why === "string") {
      run.emit({ type: "step-skip", step: key, name, condition: why });
      return undefined;
    }
    const begunAt = run.elapsedMs;
    run.emit({ type: "step-start", key, kind: "step", name, attempt: 1 });
    const end = (error?: string): void => {
      const ms = toldMs(run.elapsedMs - begunAt);
      run.emit({ type: "step-end", key, ms, ...(error === undefined ? {} : { error: { message: error } }) });
    };
    try {
      if (why !== undefined) throw why;
      done.add(node);
      const onward = await perform(operation);
      end();
      return onward;
    } catch (error) {
      if (run.signal.aborted || !isOperationFailure(error)) throw error;
      return failed(operation, { error, end });
    }
  }

  /** The time of a run is bounded for commands too. @throws {BudgetError} */
  async function refuseLate(key: string): Promise<void> {
    const { timeMs } = means.budget;
    const reached = timeMs === undefined
      ? undefined
      : await budgetReached({ timeMs }, run, { key: `${key}:budget` });
    if (reached !== undefined) throw new BudgetError(reached);
  }

  function begun(node: LiveNode): Operation {
    const { content, origin, serial } = node;
    if (content.kind !== "operation") throw new Error("An operation is needed.");
    const from = origin.file ?? file.path;
    const place = origin.by === "file"
      ? `${content.line}`
      : origin.by === "import"
      ? `${from}:${content.line}`
      : `+${serial}`;
    const visit = (visits.get(place) ?? 0) + 1;
    visits.set(place, visit);
    const key = `${keyPrefix}op[${place}]${visit === 1 ? "" : `#${visit}`}`;
    return { ...world, node, fields: world.known.of(content), key, from };
  }

  /** Why it is not done, or what keeps that from being known; undefined: it is done. */
  function skipped({ fields, node }: Operation): string | Error | undefined {
    if ("isRunOnce" in fields && fields.isRunOnce && done.has(node)) return "run-once";
    try {
      return failedCondition(fields.conditions, live);
    } catch (error) {
      if (isOperationFailure(error)) return error;
      throw error;
    }
  }

  function failed(
    operation: Operation,
    { error, end }: { readonly error: Error; readonly end: (error: string) => void },
  ): undefined {
    const { node, fields, from, key } = operation;
    const text = run.mask(error.message);
    const line = `${from}:${node.content.line}:1: error: @${fields.name}: ${text}`;
    const { nodes } = live.insertError(node, line);
    run.emit({
      type: "block-merge",
      step: `${key}/error`,
      mode: "append",
      removed: "",
      inserted: nodes.map(({ content }) => content.source).join(""),
    });
    end(line);
    if (fields.onError === "continue") return undefined;
    const innermost = error instanceof CalleeFailure ? error.innermost : line;
    throw new DocumentFailure(line, { innermost, cause: error });
  }

  async function perform(operation: Operation): Promise<Onward> {
    const { fields } = operation;
    switch (fields.name) {
      case "import":
        return void await performImport({ ...operation, fields });
      case "llm":
        return void await llm({ ...operation, fields });
      case "shell":
        return void await performShell({ ...operation, fields });
      case "run":
        return void await runOther({ ...operation, fields });
      case "return":
        return { returned: performReturn({ ...operation, fields }) };
      case "goto":
        return goto({ ...operation, fields });
      default:
        return fields satisfies never;
    }
  }

  async function llm(operation: Operation<LlmFields>): Promise<void> {
    const answer = await performLlmOperation(
      operation,
      (caller, { keyPrefix, ...wanted }) =>
        callee({ ...outliving(caller), key: keyPrefix.replace(/\/$/, "") }, wanted),
    );
    lastAnswer = answer.trimEnd();
  }

  async function runOther(operation: Operation<RunFields>): Promise<void> {
    const { fields } = operation;
    const { prompt, blocks = [], useHeader: header, inputs, file } = fields;
    targetOf(operation);
    const { by } = operation.node.origin;
    const isChecked = by === "file" || by === "import"; // then it was told before anything ran
    if (header !== undefined && prompt === undefined && !isChecked) {
      warn(operation, "use-header has no effect without prompt");
    }
    const caller = fields.onError === "continue" ? outliving(operation) : operation;
    const { returned } = await callee(caller, { file, prompt, blocks, header, inputs });
    if (returned === undefined) {
      return warn(operation, `${pathOf(operation, file)} reached no @return: nothing is merged`);
    }
    const nodes = await resultNodes(operation, returned.text);
    insertResult(operation, { nodes, by: "run" });
  }

  /** @throws {CalleeFailure} */
  async function callee(operation: Operation, wanted: WantedCallee): Promise<DocumentEnd> {
    const { means, key } = operation;
    const callee = await openCallee(operation, wanted);
    try {
      return await runFile({ ...callee, run, means, keyPrefix: `${key}/` });
    } catch (error) {
      if (error instanceof DocumentFailure) throw new CalleeFailure(callee.file.path, error);
      throw error;
    } finally {
      means.narrow?.(operation.narrowing);
    }
  }

  function goto({ fields, key }: Operation<GotoFields>): Onward {
    const at = live.find(fields.block);
    const most = limitsOf(file, means).goto;
    const jumps = (jumpsTo.get(at) ?? 0) + 1;
    if (jumps > most) throw new OperationError(`more than ${most} jumps to "${fields.block}" (limits.goto)`);
    jumpsTo.set(at, jumps);
    run.emit({ type: "jump", from: key, to: fields.block });
    return { at };
  }

  const isIdle = chain.length === 1 && file.tree.nodes.every(({ kind }) => kind !== "operation");
  const idle = isIdle ? ["the document has no operations: nothing runs"] : [];
  for (const text of [...idle, ...live.warnings]) {
    run.emit({ type: "warning", text, file: file.path, line: 1, column: 1 });
  }
  try {
    const returned = await walk();
    await keepResult();
    return { returned, answer: lastAnswer };
  } catch (error) {
    if (error instanceof DocumentFailure || error instanceof BudgetError) await keepResult();
    throw error;
  }
}

/** The same for a document whose failure something comes after: what failed in it has failed after a resume too. */
function outliving(operation: Operation): Operation {
  return { ...operation, means: { ...operation.means, keepsFailures: true } };
}

const HEADER = "# Return block";

/** What a document gives (documents.md 10.7). @throws {BlockReferenceError} */
function performReturn({ fields, live, file }: Operation<ReturnFields>): CalleeResult {
  const { prompt, blocks = [], useHeader } = fields;
  const nodes = live.select(blocks);
  const texts = nodeTexts(nodes);
  const said = prompt === undefined ? "" : underHeader(useHeader ?? HEADER, prompt.trimEnd());
  const header = prompt === undefined && useHeader !== undefined && useHeader !== "none" ? useHeader : "";
  return {
    text: [header, texts, said].filter((text) => text !== "").join("\n\n"),
    isReturned: true,
    blocks: nodes.flatMap(({ id, content, origin }) =>
      id === undefined || content.kind !== "heading" ? [] : [{ source: origin.file ?? file.path, id }]
    ),
  };
}

/** An empty line stands between a header and a text that begins with a heading (documents.md 6.2). */
function underHeader(header: string, text: string): string {
  if (header === "none") return text;
  const [first = ""] = text.split("\n", 1);
  return `${header}\n${headingLine(first) === undefined ? "" : "\n"}${text}`;
}

/**
 * The first condition that does not hold, in words; undefined when all do (documents.md 9.5).
 *
 * @throws {BlockReferenceError} for a block that is missing, except with `exists`
 */
function failedCondition(conditions: readonly Condition[], live: LiveDocument): string | undefined {
  const failed = conditions.find((condition) => !holds(condition, live));
  if (failed === undefined) return undefined;
  const { blocks, test } = failed;
  return `${blocks.join(", ")} ${test.kind} ${JSON.stringify(test.value)}`;
}

function holds({ blocks, test }: Condition, live: LiveDocument): boolean {
  if (test.kind === "exists") return isThere(blocks, live) === test.value;
  const text = nodeBodies(live.select(blocks)).trim();
  switch (test.kind) {
    case "equals":
      return text === test.value.trim();
    case "not-equals":
      return text !== test.value.trim();
    case "contains":
      return text.includes(test.value);
    case "matches":
      return new RegExp(test.value, "u").test(text);
    default:
      return test satisfies never;
  }
}

function isThere(blocks: readonly string[], live: LiveDocument): boolean {
  try {
    live.select(blocks);
    return true;
  } catch (error) {
    if (error instanceof BlockReferenceError) return false;
    throw error;
  }
}

/** Inserts another document, or blocks of it, with its operations (documents.md 10.2). */
async function performImport(operation: Operation<ImportFields>): Promise<void> {
  const { fields, known } = operation;
  targetOf(operation);
  const path = pathOf(operation, fields.file);
  refuseCycle(operation, path);
  // Not before it is reached: operations above may have written it.
  const text = await readFile(operation, fields.file);
  const file = await readDocument(text, {
    path,
    hasOperations: mayHaveOperations(path) && !isSaved(operation, path),
  });
  const wrong = firstError(file);
  if (wrong !== undefined) throw new OperationError(wrong);
  known.add(file);
  const nodes = imported(file.tree, fields);
  if (nodes.length === 0) return warn(operation, `nothing to import from "${fields.file}"`);
  const inserted = insertResult(operation, {
    nodes,
    by: isSaved(operation, path) ? "saved" : "import",
    from: path,
  });
  for (const node of inserted) operation.importedBy.set(node, operation.node);
}

function imported(
  tree: ConstructorParameters<typeof LiveDocument>[0],
  { blocks, file }: ImportFields,
): readonly LiveNode[] {
  const source = new LiveDocument(tree);
  if (blocks === undefined) return source.all();
  try {
    return source.select(blocks, { hasOperations: true });
  } catch (error) {
    if (!(error instanceof BlockReferenceError)) throw error;
    throw new OperationError(`${error.message} of "${file}"`);
  }
}

/** An operation that imports itself, by way of others too, would never come to an end (documents.md 10.2). */
function refuseCycle({ node, from, importedBy }: Operation, path: string): void {
  const files = [path, from];
  for (let above = importedBy.get(node); above !== undefined; above = importedBy.get(above)) {
    const file = above.origin.file ?? "";
    files.push(file);
    if (above.content.line === node.content.line && file === from) {
      throw new OperationError(`import cycle: ${files.reverse().join(" -> ")}`);
    }
  }
}
