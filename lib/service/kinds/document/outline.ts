import { modelOfProvider } from "../../../parse/document/llm.ts";
import { pathFrom } from "../../../run/document/files.ts";
import { DOCUMENT_LIMITS } from "../../../catalog/config/config.ts";
import { type Json, type JsonObject, toJson, toJsonObject } from "../../../core/core.ts";
import { LiveDocument } from "../../../document/live_document.ts";
import type { DocumentFile } from "../../../parse/document/document.ts";
import { readDocumentMapping } from "../../../parse/document/mapping.ts";
import type { DocumentSettings, OperationFields } from "../../../parse/document/operation.ts";
import type { OperationNode } from "../../../parse/document/tree.ts";
import type { DocumentPageJson } from "../../look/look.ts";

/** An operation, in short. */
export interface OutlinedOperation {
  readonly node: OperationNode;
  /** The id of the block whose section it stands in. */
  readonly section: string | undefined;
  /** As they are written. */
  readonly parameters: Readonly<Record<string, Json>>;
  /** Absent where there is an error in it. */
  readonly fields: OperationFields | undefined;
}

/** A block that references can name. */
export interface OutlinedBlock {
  readonly id: string;
  /** The line without its `#`s. */
  readonly title: string;
  readonly level: number;
  /** From 1. */
  readonly line: number;
  /** How many blocks it stands below. */
  readonly depth: number;
}

/** A document in short, before anything runs. */
export interface DocumentOutline {
  readonly live: LiveDocument;
  readonly operations: readonly OutlinedOperation[];
  readonly blocks: readonly OutlinedBlock[];
}

/** What a document consists of. */
export async function outlineOf({ tree, operations }: DocumentFile): Promise<DocumentOutline> {
  const live = new LiveDocument(tree);
  const outlined: OutlinedOperation[] = [];
  const blocks: OutlinedBlock[] = [];
  const levels: number[] = [];
  let section: string | undefined;
  for (const { content, id } of live.nodes()) {
    if (content.kind === "heading" && id !== undefined) {
      const { title, level, line } = content;
      while ((levels.at(-1) ?? 0) >= level) levels.pop();
      blocks.push({ id, title, level, line, depth: levels.length });
      levels.push(level);
      section = id;
    } else if (content.kind === "operation") {
      const parameters = await parametersOf(content);
      outlined.push({ node: content, section, parameters, fields: operations.get(content) });
    }
  }
  return { live, operations: outlined, blocks };
}

async function parametersOf({ body, line }: OperationNode): Promise<Readonly<Record<string, Json>>> {
  const { values } = await readDocumentMapping(body === "" ? "" : `${body}\n`, {
    linesAbove: line,
    notMapping: "",
    keyName: "parameter",
  });
  return Object.fromEntries([...values].map(([key, value]) => [key, toJson(value)]));
}

/** Something that a document uses, with the lines of the operations that do. */
export interface UsedThing {
  readonly name: string;
  readonly lines: readonly number[];
}

/** Something that it may do only where that is granted; its name is the flag of a run. */
interface NeededThing extends UsedThing {
  readonly kind: "run" | "write";
  /** Of `write`: relative to the root where it lies inside. */
  readonly path?: string;
}

/** What a document works with, as far as its text says it. */
export interface DocumentUses {
  /** Absent names are those of the configuration: the empty text. */
  readonly models: readonly UsedThing[];
  readonly tools: readonly UsedThing[];
  readonly imports: readonly UsedThing[];
  readonly runs: readonly UsedThing[];
  /** Without these it does not run. */
  readonly needs: readonly NeededThing[];
}

/** What the operations of a document use. @param flagPath a path as the flags of a run take it. Default: relative to the root */
export function usesOf(
  { path: file, settings }: DocumentFile,
  { operations }: DocumentOutline,
  flagPath: (path: string) => string = (path) => path,
): DocumentUses {
  const found = {
    models: new Map<string, number[]>(),
    tools: new Map<string, number[]>(),
    imports: new Map<string, number[]>(),
    runs: new Map<string, number[]>(),
  };
  const needs = new Map<string, NeededThing & { readonly lines: number[] }>();
  const need = (name: string, line: number, thing: Pick<NeededThing, "kind" | "path">): void => {
    const lines = needs.get(name)?.lines ?? [];
    if (lines.at(-1) !== line) lines.push(line);
    needs.set(name, { ...thing, name, lines });
  };
  const note = (kind: keyof typeof found, name: string, line: number): void => {
    const lines = found[kind].get(name) ?? [];
    if (lines.at(-1) !== line) lines.push(line);
    found[kind].set(name, lines);
  };
  for (const { node: { line }, fields } of operations) {
    switch (fields?.name) {
      case "import":
        note("imports", fields.file, line);
        break;
      case "run":
        note("runs", fields.file, line);
        break;
      case "shell":
        need("--allow-run", line, { kind: "run" });
        break;
      case "llm": {
        note("models", modelName(fields, settings.model), line);
        const tools = fields.tools ?? settings.tools ?? "none";
        const names = typeof tools === "string" ? tools === "none" ? [] : [tools] : tools;
        for (const name of names) note("tools", name, line);
        if (fields.saveToFile !== undefined) {
          const path = pathFrom(file, fields.saveToFile);
          need(`--allow-write=${flagPath(path)}`, line, { kind: "write", path });
        }
        break;
      }
    }
  }
  const listed = (kind: keyof typeof found): readonly UsedThing[] =>
    [...found[kind]].map(([name, lines]) => ({ name, lines }));
  return {
    models: listed("models"),
    tools: listed("tools"),
    imports: listed("imports"),
    runs: listed("runs"),
    needs: [...needs.values()],
  };
}

/** As it is written; the empty text leaves it to the configuration. */
function modelName(
  { provider, model }: Extract<OperationFields, { readonly name: "llm" }>,
  byDefault = "",
): string {
  if (model === undefined) return provider === undefined ? byDefault : `${provider}/`;
  return modelOfProvider(model, provider);
}

/** What `orrery show document --json` prints. */
type DocumentJson = JsonObject & Pick<DocumentPageJson, "defaults" | "limits" | "blocks"> & {
  readonly operations: DocumentPageJson["operationList"];
};

/** Everything about a document as plain data. @param uses as `usesOf` has them */
export function documentJson(
  file: DocumentFile,
  outline: DocumentOutline,
  uses: DocumentUses,
): DocumentJson {
  const { path, settings, problems } = file;
  const { title, description, model, temperature, effort, tools, mode, permissions, inputs } = settings;
  const limits = { ...DOCUMENT_LIMITS, ...settings.limits };
  return {
    file: path,
    title: title ?? null,
    description: description ?? null,
    inputs: [...inputsJson(inputs)],
    needs: thingsJson(uses.needs, "flag"),
    permissions: toJsonObject(permissions),
    defaults: toJsonObject({ model, temperature, effort, mode, tools }),
    limits: { goto: limits.goto, "tool-turns": limits.toolTurns, "shell-timeout": limits.shellTimeoutS },
    models: uses.models.map(({ name, lines }) => ({ model: name === "" ? null : name, lines: [...lines] })),
    tools: thingsJson(uses.tools, "tool"),
    imports: thingsJson(uses.imports, "file"),
    runs: thingsJson(uses.runs, "file"),
    operations: outline.operations.map(({ node: { name, line }, section, parameters }) => ({
      name,
      line,
      section: section ?? null,
      parameters,
    })),
    blocks: outline.blocks.map(({ id, title, level, line }) => ({ id, title, level, line })),
    problems: problems.map(({ severity, line, column, message }) => ({ severity, line, column, message })),
  };
}

function thingsJson(things: readonly UsedThing[], key: string): Json {
  return things.map(({ name, lines }) => ({ [key]: name, lines: [...lines] }));
}

/** What a document takes. */
export function inputsJson(inputs: DocumentSettings["inputs"]): DocumentPageJson["inputs"] {
  return inputs.map(({ name, description = null, default: value = null }) => ({
    name,
    description,
    default: value,
  }));
}
