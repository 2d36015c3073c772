import { DOCUMENT_LIMITS } from "../catalog/config/config.ts";
import type { Json, JsonObject } from "../core/json.ts";
import type { DocumentFile } from "../parse/document/document.ts";
import { modelOfProvider } from "../parse/document/llm.ts";
import type { DocumentSettings, OperationFields } from "../parse/document/operation.ts";
import { pathFrom } from "../run/document_paths.ts";
import type { DocumentOutline } from "./document_outline.ts";

/** Something that a document uses, with the lines of the operations that do. */
export interface UsedThing {
  readonly name: string;
  readonly lines: readonly number[];
}

/** Something that it may do only where that is granted; its name is the flag of a run. */
export interface NeededThing extends UsedThing {
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

/** Everything about a document as plain data. @param uses as `usesOf` has them */
export function documentJson(file: DocumentFile, outline: DocumentOutline, uses: DocumentUses): JsonObject {
  const { path, settings, problems } = file;
  const { title, description, model, temperature, tools, mode, permissions, inputs } = settings;
  const limits = { ...DOCUMENT_LIMITS, ...settings.limits };
  const defaults = { model, temperature, mode, tools: typeof tools === "object" ? [...tools] : tools };
  return {
    file: path,
    title: title ?? null,
    description: description ?? null,
    inputs: inputsJson(inputs),
    needs: thingsJson(uses.needs, "flag"),
    permissions: given(permissions),
    defaults: given(defaults),
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

/** Without what is not said. */
function given(values: object): JsonObject {
  const entries: [string, Json][] = [];
  for (const [key, value] of Object.entries(values)) {
    if (value !== undefined) entries.push([key, value]);
  }
  return Object.fromEntries(entries);
}

/** What a document takes. */
export function inputsJson(inputs: DocumentSettings["inputs"]): Json {
  return inputs.map((input) => ({
    name: input.name,
    description: input.description ?? null,
    default: input.default ?? null,
  }));
}
