// Goes through the operations of a document in the order in which they run, imported ones at the place of their import,
// and through those of the documents that it runs. Of each file, what is imported again, or run again, is looked at once.

import { LiveDocument } from "../document/live_document.ts";
import type { DocumentInputs } from "../document/input_block.ts";
import { mayHaveOperations } from "../parse/document_file.ts";
import type { OperationNode } from "../parse/document_node.ts";
import type { ImportFields, OperationFields, RunFields } from "../parse/operation_fields.ts";
import { type CheckContext, type PlacedOperation, placeOf } from "./check_context.ts";
import { checkLoops } from "./check_loops.ts";
import { inputProblems } from "./check_inputs.ts";
import { canMakeFiles, checkLlm } from "./check_llm.ts";
import { checkDeclared, checkShell } from "./check_permissions.ts";
import type { DocumentSource, ReadOperation } from "./document_source.ts";
import { narrowedBy, type Narrowing } from "./narrowing.ts";
import { operationReferences } from "./operation_references.ts";
import { openSource } from "./open_source.ts";
import { isResult, resultHint } from "./result_path.ts";
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
