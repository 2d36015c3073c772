// Goes through the operations of a document in the order in which they run, imported ones at the place of their import,
// and through those of the documents that it runs. Of each file, what is imported again, or run again, is looked at once.
import { idKey, slug } from "../document/block_index.ts";
import type { DocumentInputs } from "../document/input_block.ts";
import { LiveDocument } from "../document/live_document.ts";
import { readReference } from "../document/find_block.ts";
import { type DocumentFile, mayHaveOperations } from "../parse/document/document.ts";
import { didYouMean } from "../parse/document/near.ts";
import type { GotoFields, ImportFields, OperationFields, RunFields } from "../parse/document/operation.ts";
import type { OperationNode } from "../parse/document/tree.ts";
import { type CheckContext, type PlacedOperation, placeOf } from "./check_context.ts";
import { canMakeFiles, checkLlm } from "./check_llm.ts";
import type { ProblemList, Soon } from "./check_options.ts";
import {
  type DocumentSource,
  isResult,
  operationReferences,
  type ReadOperation,
  resultHint,
} from "./document_source.ts";
import { narrowedAway, narrowedBy, type Narrowing } from "./narrowing.ts";
import { RunningDocument } from "./running_document.ts";

/** One document may be run with other permissions by each of those that run it: so many ways are looked at. */
const MOST_NARROWINGS = 8;

/** `{name}` or `{{name}}` */
const PLACE = /(?<!\{)\{\{?[ \t]*([\w-]+)[ \t]*\}\}?(?!\})/g;

/** What an `@llm` that cannot be read may have been meant to do. */
const MAKES_FILES = /^(?:save-to-file|tools)[ \t]*:/m;

/** An import that is being looked into. */
interface OpenImport {
  readonly node: OperationNode;
  readonly path: string;
}

/** Where operations stand that are looked at one after another. */
interface Part {
  readonly source: DocumentSource;
  readonly operations: readonly ReadOperation[];
  readonly document: RunningDocument;
  /** From the document to this part. */
  readonly imports: readonly OpenImport[];
  /** False: where they will stand is not known, or they will not run. */
  readonly isInPlace: boolean;
}

/** A document that is about to be run. */
export interface EnteredDocument {
  readonly input: DocumentInputs;
  /** By those that run it. */
  readonly narrowing: Narrowing;
  readonly caller?: RunningDocument["caller"];
  readonly isCallee: boolean;
  readonly hasInputBlocks: boolean;
}

/** One walk through an entry document; what is wrong goes to the context. */
export class DocumentWalk {
  /** Every document that runs, in the order in which they begin. */
  readonly documents: RunningDocument[] = [];
  readonly #context: CheckContext;
  /** The same by their files and by what they may use. */
  readonly #byFile = new Map<string, Map<string, RunningDocument>>();
  /** The files that are come back to, as was told. */
  readonly #rounds = new Set<string>();

  constructor(context: CheckContext) {
    this.#context = context;
  }

  /** Looks at a document that runs, and at everything that it runs. */
  async enter(source: DocumentSource, entered: EnteredDocument): Promise<void> {
    const { file } = source;
    const narrowing = narrowedBy(entered.narrowing, file);
    const known = this.#byFile.get(file.path) ?? new Map<string, RunningDocument>();
    this.#byFile.set(file.path, known);
    const key = JSON.stringify(narrowing.limits);
    for (const each of known.values()) each.hasInputBlocks ||= each.isCallee && entered.hasInputBlocks;
    if (known.has(key) || known.size >= MOST_NARROWINGS) return;
    const live = new LiveDocument(file.tree, { input: entered.input });
    const document = new RunningDocument({ ...entered, file, live, narrowing });
    known.set(key, document);
    this.documents.push(document);
    this.#context.noteSource(source);
    checkLoops(file, this.#context.problems);
    await checkDeclared(file, { narrowing: entered.narrowing, context: this.#context });
    await this.#walk({ source, operations: source.operations, document, imports: [], isInPlace: true });
  }

  async #walk(part: Part): Promise<void> {
    const { document, source } = part;
    for (const operation of part.operations) {
      document.count();
      const placed: PlacedOperation = { operation, path: source.file.path, document };
      if (operation.fields === undefined) await this.#noteUnread(placed);
      else {
        if (part.isInPlace) this.#noteReferences(operation.fields, placed);
        await this.#look(operation.fields, { placed, part });
      }
    }
  }

  #noteReferences(fields: OperationFields, placed: PlacedOperation): void {
    const { references, at } = placed.document;
    for (const { key, reference } of operationReferences(fields)) {
      references.push({ ...placeOf(placed, key), reference, at });
    }
  }

  /** Of an operation with an error in it only that is told which does not depend on what it says. */
  async #noteUnread(placed: PlacedOperation): Promise<void> {
    const { operation: { node }, document } = placed;
    if (node.name === "shell") await checkShell(placed, this.#context);
    if (node.name === "goto") document.noteGoto();
    if (node.name === "return") document.noteLeaving();
    if (node.name === "return" || node.name === "goto") return;
    document.noteDynamic();
    const mayMake = node.name === "llm" ? MAKES_FILES.test(node.source) : node.name !== "import";
    if (mayMake) document.noteMaker();
  }

  /** A document has no places for values in a text: its inputs are blocks. */
  #notePlaces(prompt: string, placed: PlacedOperation): void {
    const names = new Set(placed.document.file.settings.inputs.map(({ name }) => name));
    for (const [written, name = ""] of prompt.matchAll(PLACE)) {
      if (!names.has(name)) continue;
      this.#context.problems.warn(
        placeOf(placed, "prompt"),
        `${written} is sent as it is: a document has no places for values; the input is the block "${name}"`,
      );
    }
  }

  async #look(
    fields: OperationFields,
    { placed, part }: { readonly placed: PlacedOperation; readonly part: Part },
  ): Promise<void> {
    const { document } = placed;
    if ("prompt" in fields && fields.prompt !== undefined) this.#notePlaces(fields.prompt, placed);
    switch (fields.name) {
      case "import":
        return await this.#import(fields, { placed, part });
      case "llm":
        await checkLlm(fields, placed, this.#context);
        document.noteDynamic();
        if (canMakeFiles(fields, placed)) document.noteMaker();
        return;
      case "shell":
        await checkShell(placed, this.#context);
        document.noteDynamic();
        return document.noteMaker();
      case "run":
        await this.#run(fields, placed);
        document.noteDynamic();
        return document.noteMaker();
      case "goto":
        return document.noteGoto();
      case "return":
        return document.noteLeaving();
      default:
        return fields satisfies never;
    }
  }

  async #import(
    fields: ImportFields,
    { placed, part }: { readonly placed: PlacedOperation; readonly part: Part },
  ): Promise<void> {
    const { document } = placed;
    const { problems } = this.#context;
    const place = placeOf(placed, "file");
    const source = await openSource(fields.file, {
      placed,
      hasOperations: mayHaveOperations(fields.file),
      context: this.#context,
    });
    if (source === undefined) return document.noteImport();
    const selection = source.select(fields.blocks);
    for (const message of selection.problems) {
      problems.error(placeOf(placed, "block"), `${message} of "${fields.file}"`);
    }
    if (selection.isEmpty) problems.warn(place, `nothing to import from "${fields.file}"`);
    document.noteImport(selection);
    const imports = [...part.imports, { node: placed.operation.node, path: placed.path }];
    const cycle = imports.findIndex(({ node }) => selection.nodes.has(node));
    if (cycle >= 0) {
      const files = [...imports.slice(cycle).map(({ path }) => path), source.file.path];
      return problems.error(place, `import cycle: ${files.join(" -> ")}`);
    }
    const mode = fields.mode ?? this.#context.options.mode ?? document.file.settings.mode ?? "append";
    const isInPlace = part.isInPlace && fields.to === undefined && mode === "append";
    if (!document.noteWalk(selection, isInPlace)) return;
    await this.#walk({ source, operations: selection.operations, document, imports, isInPlace });
  }

  async #run(fields: RunFields, placed: PlacedOperation): Promise<void> {
    const { problems } = this.#context;
    const { document } = placed;
    const place = placeOf(placed, "file");
    if (isResult(fields.file)) return problems.error(place, resultHint(fields.file));
    const source = await openSource(fields.file, { placed, hasOperations: true, context: this.#context });
    if (source === undefined) return;
    const isSure = fields.conditions.length === 0 && !document.canLeave;
    const { path } = source.file;
    const round = this.#rounds.has(path) ? undefined : document.roundTo(path, isSure);
    if (round !== undefined) {
      this.#rounds.add(path);
      const shown = round.length > 8 ? [...round.slice(0, 4), "…", ...round.slice(-3)] : round;
      problems.warn(place, `run cycle: ${shown.join(" -> ")}: a document that runs itself never ends`);
    }
    const given = Object.keys(fields.inputs);
    for (const { isUnknown, message } of inputProblems(source.file, { given })) {
      problems.error(placeOf(placed, isUnknown ? "inputs" : undefined), message);
    }
    const values = source.file.settings.inputs.map(({ name }) => ({ name, value: "" }));
    await this.enter(source, {
      input: { values, ...(fields.prompt !== undefined && { prompt: "" }) },
      narrowing: document.narrowing,
      caller: { document, at: document.at, isSure },
      isCallee: true,
      hasInputBlocks: fields.blocks !== undefined,
    });
  }
}

/** Opens what the parameter `file` of an operation names, and tells what is wrong with it; undefined where it cannot be used. */
async function openSource(
  written: string,
  { placed, hasOperations, context }: {
    readonly placed: PlacedOperation;
    readonly hasOperations: boolean;
    readonly context: CheckContext;
  },
): Promise<DocumentSource | undefined> {
  const { document } = placed;
  const place = placeOf(placed, "file");
  const path = context.readable(written, { ...placed, place });
  if (path === undefined) return undefined;
  const opened = await context.files.open(path, hasOperations);
  if ("failure" in opened) {
    context.tellFailure(opened.failure, { place, written, document });
    return undefined;
  }
  context.noteSource(opened.value);
  return opened.value;
}

/**
 * Warns of loops that go on until their limit: a jump back whose conditions read blocks that nothing between its target and itself changes, and
 * nothing there leads out. A result that is inserted beside a block of its name gets another id.
 */
function checkLoops({ path, tree, operations }: DocumentFile, problems: ProblemList): void {
  for (const [at, node] of tree.nodes.entries()) {
    const jump = node.kind === "operation" ? operations.get(node) : undefined;
    if (jump?.name !== "goto" || jump.isRunOnce || jump.conditions.length === 0) continue;
    const [target = ""] = idsOf(jump.block);
    const start = tree.nodes.findIndex((each) =>
      each.kind === "heading" && idKey(each.explicitId ?? slug(each.title)) === target
    );
    if (start < 0 || start > at) continue;
    const inside = tree.nodes.slice(start, at).filter((each) => each.kind === "operation")
      .map((each) => operations.get(each));
    if (inside.length === 0 || !inside.every((fields) => isHarmless(fields, jump))) continue;
    const blocks = jump.conditions.flatMap(({ blocks }) => blocks).map((block) => `"${block.trim()}"`).join(
      ", ",
    );
    problems.warn(
      { file: path, line: jump.lines.get("if") ?? node.line },
      `this loop goes on until its limit: no operation in it changes ${blocks}; to replace a block, give the operation that writes it ` +
        "mode: replace and to: with the id of the block",
    );
  }
}

/** Whether an operation surely leaves alone what the jump reads, and goes on to it. */
function isHarmless(fields: OperationFields | undefined, { conditions }: GotoFields): boolean {
  if (
    fields === undefined || fields.name === "return" || fields.name === "goto" || fields.name === "import"
  ) {
    return false;
  }
  if ("isGeneratedRun" in fields && fields.isGeneratedRun) return false;
  if (fields.to === undefined) return fields.mode !== "replace" && !conditions.some(readsSection);
  const changed = idsOf(fields.to);
  const read = conditions.flatMap(({ blocks }) => blocks).flatMap(idsOf);
  return !readReference(fields.to).isSection && !conditions.some(readsSection) &&
    !changed.some((id) => read.includes(id));
}

function readsSection({ blocks }: GotoFields["conditions"][number]): boolean {
  return blocks.some((block) => readReference(block).isSection);
}

function idsOf(reference: string): readonly string[] {
  return readReference(reference).steps.map((step) => idKey(step.trim()));
}

/** What the front matter of a document asks for and nobody granted, or the documents that run it do not allow (documents.md 13.2, 13.3). */
async function checkDeclared(
  { path, settings }: DocumentFile,
  { narrowing, context }: { readonly narrowing: Narrowing; readonly context: CheckContext },
): Promise<void> {
  const { root } = context.options;
  const place = { file: path, line: settings.lines.get("permissions") ?? 1 };
  for (const { kind, value, isGranted } of wantedBy({ path, settings }, context)) {
    const isPath = value !== undefined && (kind === "read" || kind === "write");
    const against = narrowedAway(narrowing, { kind, root, ...(isPath && { path: value }) });
    const what = `the document asks for ${kind} permission${value === undefined ? "" : ` for "${value}"`}`;
    const flag = value === undefined
      ? kind === "run" ? runFlag(context) : `--allow-${kind}`
      : `--allow-${kind}=${isPath ? flagPath(value, context) : value}`;
    if (against !== undefined) context.problems.error(place, `${what}, ${against}`);
    else if (!await isGranted) context.problems.error(place, `${what}, which was not granted (${flag})`);
  }
}

interface Wanted {
  readonly kind: "read" | "write" | "net" | "run";
  readonly value?: string;
  readonly isGranted: Soon<boolean>;
}

function wantedBy(
  { settings }: Pick<DocumentFile, "path" | "settings">,
  { options, files }: CheckContext,
): Wanted[] {
  const { grants } = options;
  const { read, write, net, run } = settings.permissions;
  const wanted: Wanted[] = [];
  // Without a list, read means the project, which every document may read.
  for (const value of listOf(read)) {
    wanted.push({ kind: "read", value, isGranted: grants.mayRead(files.shown(value)) });
  }
  if (write === true) wanted.push({ kind: "write", isGranted: grants.mayWrite() });
  for (const value of listOf(write)) {
    wanted.push({ kind: "write", value, isGranted: grants.mayWrite(files.shown(value)) });
  }
  if (net === true) wanted.push({ kind: "net", isGranted: grants.mayConnect() });
  for (const value of listOf(net)) wanted.push({ kind: "net", value, isGranted: grants.mayConnect(value) });
  if (run === true) wanted.push({ kind: "run", isGranted: grants.mayRun() });
  return wanted;
}

function listOf(value: boolean | readonly string[] | undefined): readonly string[] {
  return typeof value === "object" ? value : [];
}

/** Whether an `@shell` may run. */
async function checkShell(placed: PlacedOperation, context: CheckContext): Promise<void> {
  const { root, grants } = context.options;
  const against = narrowedAway(placed.document.narrowing, { kind: "run", root });
  if (against !== undefined) {
    context.problems.error(placeOf(placed), `@shell needs run permission, ${against}`);
  } else if (!await grants.mayRun()) {
    context.problems.error(placeOf(placed), `@shell needs run permission (${runFlag(context)})`);
  }
}

function flagPath(written: string, { options: { grants }, files }: CheckContext): string {
  return grants.flagPath?.(files.shown(written)) ?? written;
}

/** Who has allowed some commands meant to allow the shell too, or not: its name is what counts. */
function runFlag({ options: { grants } }: CheckContext): string {
  if (grants.runHint !== undefined) return grants.runHint;
  return grants.shell === undefined ? "--allow-run" : `--allow-run=${grants.shell}`;
}

/** What is wrong with the inputs that a document is given (documents.md 10.3, 10.4). */
interface InputProblem {
  /** Whether it is given something that it does not take; else something is missing. */
  readonly isUnknown: boolean;
  readonly message: string;
}

/** @param hint what is said behind a name that has no value */
export function inputProblems(
  { path, settings }: DocumentFile,
  { given, hint = () => "" }: {
    readonly given: Iterable<string>;
    readonly hint?: (name: string) => string;
  },
): readonly InputProblem[] {
  const names = new Set(given);
  const declared = new Set(settings.inputs.map(({ name }) => name));
  const unknown = [...names].filter((name) => !declared.has(name)).map((name) => ({
    isUnknown: true,
    message: `${path} has no input "${name}"${didYouMean(name, declared)}`,
  }));
  const missing = settings.inputs
    .filter((input) => input.default === undefined && !names.has(input.name))
    .map(({ name }) => ({ isUnknown: false, message: `input "${name}" needs a value${hint(name)}` }));
  return [...unknown, ...missing];
}
