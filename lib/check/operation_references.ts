import type { InputValue, OperationFields, Reference } from "../parse/document/operation.ts";

/** A reference into the document that an operation runs in. */
export interface OwnReference {
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
