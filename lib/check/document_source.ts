import { extname } from "node:path";
import { idKey } from "../document/block_index.ts";
import { lostHeadings, readReference } from "../document/find_block.ts";
import { LiveDocument } from "../document/live_document.ts";
import { hasText } from "../document/live_node.ts";
import type { DocumentFile } from "../parse/document/document.ts";
import type { InputValue, OperationFields, Reference } from "../parse/document/operation.ts";
import type { OperationNode } from "../parse/document/tree.ts";
import { NearIds } from "./near_ids.ts";

/** An operation, and what it says where that could be read. */
export interface ReadOperation {
  readonly node: OperationNode;
  readonly fields: OperationFields | undefined;
}

/** What an `@import` takes from a file. */
export interface Selection {
  /** Nothing of it has any text. */
  readonly isEmpty: boolean;
  /** The ids that its blocks get where they are inserted, unless those are taken. */
  readonly ids: readonly string[];
  readonly operations: readonly ReadOperation[];
  readonly nodes: ReadonlySet<OperationNode>;
  /** References that lead nowhere. */
  readonly problems: readonly string[];
}

/** A document that was read, with what it gives to those that import it. */
export class DocumentSource {
  readonly file: DocumentFile;
  readonly hasOperations: boolean;
  readonly operations: readonly ReadOperation[];
  readonly #selections = new Map<string, Selection>();
  #live: LiveDocument | undefined;
  #near: NearIds | undefined;
  #lost: ReturnType<typeof lostHeadings> | undefined;

  constructor(file: DocumentFile, hasOperations: boolean) {
    this.file = file;
    this.hasOperations = hasOperations;
    this.operations = file.tree.nodes.flatMap((node) =>
      node.kind === "operation" ? [{ node, fields: file.operations.get(node) }] : []
    );
  }

  /** The document by itself, before anything runs. */
  get live(): LiveDocument {
    return this.#live ??= new LiveDocument(this.file.tree);
  }

  /** What the references lead to; without any, the whole file. */
  select(references: readonly Reference[] | undefined): Selection {
    const key = references === undefined ? "" : references.join("\n");
    const known = this.#selections.get(key);
    if (known !== undefined) return known;
    const selection = references === undefined ? this.#whole() : this.#blocks(references);
    this.#selections.set(key, selection);
    return selection;
  }

  #whole(): Selection {
    const ids: string[] = [];
    let isEmpty = true;
    for (const node of this.live.nodes()) {
      if (node.baseId !== undefined) ids.push(node.baseId);
      if (node.content.kind !== "front-matter" && hasText(node)) isEmpty = false;
    }
    const nodes = new Set(this.operations.map(({ node }) => node));
    return { isEmpty, ids, operations: this.operations, nodes, problems: [] };
  }

  #blocks(references: readonly Reference[]): Selection {
    const problems = references.flatMap((reference) => this.#problemOf(reference) ?? []);
    const found = references.filter((reference) => this.#problemOf(reference) === undefined);
    const selected = this.live.select(found, { hasOperations: true });
    const operations = selected.flatMap(({ content }) =>
      content.kind === "operation" ? [{ node: content, fields: this.file.operations.get(content) }] : []
    );
    return {
      isEmpty: found.length > 0 && selected.length === 0,
      ids: selected.flatMap(({ baseId }) => baseId ?? []),
      operations,
      nodes: new Set(operations.map(({ node }) => node)),
      problems,
    };
  }

  #problemOf(reference: Reference): string | undefined {
    return missingBlock(this.live, { reference, suggest: (word) => this.#suggest(word) });
  }

  #suggest(word: string): string {
    if (this.#near === undefined) {
      this.#near = new NearIds();
      for (const { id } of this.live.nodes()) if (id !== undefined) this.#near.add(id);
    }
    this.#lost ??= lostHeadings(this.live.nodes());
    return this.#lost.get(idKey(word)) ?? this.#near.didYouMean(word);
  }
}

/** Why a reference leads to no block of a document; undefined when it leads to one. */
export function missingBlock(
  live: LiveDocument,
  { reference, suggest }: { readonly reference: Reference; readonly suggest: (word: string) => string },
): string | undefined {
  const { steps } = readReference(reference);
  if (live.maybeFind(steps.join("/")) !== undefined) return undefined;
  for (let found = 1; found < steps.length; found++) {
    const way = steps.slice(0, found).join("/");
    const next = steps.slice(0, found + 1).join("/");
    if (live.maybeFind(way) === undefined) break;
    if (live.maybeFind(next) === undefined) return `no block "${steps[found]}" in "${way}"`;
  }
  const [first = ""] = steps;
  return `no block "${first}"${suggest(first)}`;
}

/** Whether a path is that of a result document (documents.md 1.1). */
export function isResult(path: string): boolean {
  return extname(path).toLowerCase() === ".ctx";
}

/** What is said of running one. */
export function resultHint(path: string): string {
  return `"${path}" is the result of a run: run "${path.slice(0, -".ctx".length)}.md" instead`;
}

/** A reference into the document that an operation runs in. */
interface OwnReference {
  /** The parameter. */
  readonly key: string;
  readonly reference: Reference;
}

/** The references of an operation that have to lead somewhere (documents.md 5.9); `block` of an @import leads into its file. */
export function operationReferences(fields: OperationFields): readonly OwnReference[] {
  const conditions = fields.conditions.filter(({ test }) => test.kind !== "exists");
  return [
    ...all("block", blocksOf(fields)),
    ...all("to", "to" in fields && fields.to !== undefined ? [fields.to] : []),
    ...all("if", conditions.flatMap(({ blocks }) => blocks)),
    ...fields.name === "shell" ? all("env", valueBlocks(fields.env)) : [],
    ...fields.name === "run" ? all("inputs", valueBlocks(fields.inputs)) : [],
  ];
}

function blocksOf(fields: OperationFields): readonly Reference[] {
  if (fields.name === "goto") return [fields.block];
  if (fields.name === "import" || fields.name === "shell") return [];
  return fields.blocks ?? [];
}

function valueBlocks(values: Readonly<Record<string, InputValue>>): readonly Reference[] {
  return Object.values(values).flatMap((value) => typeof value === "string" ? [] : value.blocks);
}

function all(key: string, references: readonly Reference[]): readonly OwnReference[] {
  return references.map((reference) => ({ key, reference }));
}
