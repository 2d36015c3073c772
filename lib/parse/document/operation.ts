// The six operations and their parameters, in the order of the table (documents.md 4), which decides between equally near names.
import type { Effort, Json } from "../../core/core.ts";

/** What may stand between the headings of a document. */
export type OperationName = "import" | "llm" | "shell" | "run" | "return" | "goto";

/** In the order in which near misses are looked up. */
export const OPERATION_NAMES: readonly OperationName[] = ["import", "llm", "shell", "run", "return", "goto"];

/** Which operations take each parameter. */
export const PARAMETERS: Readonly<Record<string, readonly OperationName[]>> = {
  prompt: ["llm", "shell", "run", "return"],
  block: ["import", "llm", "run", "return", "goto"],
  file: ["import", "run"],
  to: ["import", "llm", "shell", "run"],
  mode: ["import", "llm", "shell", "run"],
  "use-header": ["llm", "shell", "run", "return"],
  "run-once": ["import", "llm", "shell", "run", "goto"],
  if: OPERATION_NAMES,
  "on-error": OPERATION_NAMES,
  "run-generated": ["llm", "shell", "run"],
  context: ["llm"],
  media: ["llm"],
  "save-to-file": ["llm"],
  "header-auto-align": ["llm"],
  provider: ["llm"],
  model: ["llm"],
  temperature: ["llm"],
  effort: ["llm"],
  "stop-sequences": ["llm"],
  tools: ["llm"],
  "tools-turns-max": ["llm"],
  retries: ["llm"],
  schema: ["llm"],
  env: ["shell"],
  timeout: ["shell"],
  inputs: ["run"],
};

const NAMES: ReadonlySet<string> = new Set(OPERATION_NAMES);

export function isOperationName(word: string): word is OperationName {
  return NAMES.has(word);
}

/** The parameters of an operation, in the order of the table. */
export function parametersOf(name: OperationName): readonly string[] {
  return Object.keys(PARAMETERS).filter((parameter) => takes(name, parameter));
}

/** Whether an operation has a parameter of this name. */
export function takes(name: OperationName, parameter: string): boolean {
  return Object.hasOwn(PARAMETERS, parameter) && PARAMETERS[parameter]?.includes(name) === true;
}

/** Of each group one has to be there; an empty, wrong or misspelt one is told where it stands. */
export const REQUIRED: Readonly<Record<OperationName, readonly string[]>> = {
  import: ["file"],
  llm: ["prompt", "block"],
  shell: ["prompt"],
  run: ["file"],
  return: ["prompt", "block"],
  goto: ["block"],
};

// What an operation's parameters say, after the checks of documents.md 4: values that can be used as they are.

/** Where a result goes, as written; not looked up yet. `a/b/*` stays one text. */
export type Reference = string;

/** How a result is merged (documents.md 6.3). */
export type MergeMode = "append" | "prepend" | "replace";

/** One condition: a test of the text of blocks. */
export interface Condition {
  readonly blocks: readonly Reference[];
  readonly test:
    | { readonly kind: "equals" | "not-equals" | "contains" | "matches"; readonly value: string }
    | { readonly kind: "exists"; readonly value: boolean };
}

/** A value for a variable or an input. */
export type InputValue = string | { readonly blocks: readonly Reference[] };

/** What every operation has. */
interface AnyFields {
  /** All must hold. Empty: it always runs. */
  readonly conditions: readonly Condition[];
  /** Absent: the default of the operation. */
  readonly onError?: "stop" | "continue";
  /** The line of each parameter's key in the file, from 1, by its name. */
  readonly lines: ReadonlyMap<string, number>;
}

/** What those have that can be told to run only once. */
interface OnceFields {
  readonly isRunOnce: boolean;
}

/** What those have that insert something. */
interface MergeFields extends OnceFields {
  readonly to?: Reference;
  readonly mode?: MergeMode;
}

/** The header of a result: a heading line, `none`, or absent for the default. */
interface HeaderFields {
  /** `none` in lower case, whatever the case it was written in. */
  readonly useHeader?: string;
}

export interface ImportFields extends AnyFields, MergeFields {
  readonly name: "import";
  readonly file: string;
  /** Absent: the whole file. */
  readonly blocks?: readonly Reference[];
}

export interface LlmFields extends AnyFields, MergeFields, HeaderFields {
  readonly name: "llm";
  readonly prompt?: string;
  readonly blocks?: readonly Reference[];
  readonly isGeneratedRun: boolean;
  readonly isAmbient: boolean;
  readonly media: readonly string[];
  readonly saveToFile?: string;
  readonly isHeaderAligned: boolean;
  readonly provider?: string;
  readonly model?: string;
  readonly temperature?: number;
  readonly effort?: Effort;
  readonly stopSequences: readonly string[];
  /** Absent: the file's default, else none. */
  readonly tools?: ToolChoice;
  readonly toolsTurnsMax?: number;
  readonly retries: number;
  /** A schema, or the path of a `.json` file. */
  readonly schema?: { readonly [key: string]: Json } | string;
}

/** `none`, `all`, or names in their order, each once. */
export type ToolChoice = "none" | "all" | readonly string[];

export interface ShellFields extends AnyFields, MergeFields, HeaderFields {
  readonly name: "shell";
  readonly prompt: string;
  readonly isGeneratedRun: boolean;
  readonly env: Readonly<Record<string, InputValue>>;
  /** Seconds. Absent: the file's limit. */
  readonly timeoutS?: number;
}

export interface RunFields extends AnyFields, MergeFields, HeaderFields {
  readonly name: "run";
  readonly file: string;
  readonly prompt?: string;
  readonly blocks?: readonly Reference[];
  readonly isGeneratedRun: boolean;
  readonly inputs: Readonly<Record<string, InputValue>>;
}

export interface ReturnFields extends AnyFields, HeaderFields {
  readonly name: "return";
  readonly prompt?: string;
  readonly blocks?: readonly Reference[];
}

export interface GotoFields extends AnyFields, OnceFields {
  readonly name: "goto";
  readonly block: Reference;
}

/** The parameters of one operation. */
export type OperationFields =
  | ImportFields
  | LlmFields
  | ShellFields
  | RunFields
  | ReturnFields
  | GotoFields;

/** The fields of the operation of a name. */
export type FieldsOf<Name extends OperationName> = Extract<OperationFields, { readonly name: Name }>;

/** What the front matter of a document says (documents.md 3). */
export interface DocumentSettings {
  readonly model?: string;
  readonly temperature?: number;
  readonly effort?: Effort;
  readonly tools?: ToolChoice;
  readonly mode?: MergeMode;
  readonly title?: string;
  readonly description?: string;
  /** Those that it gives. */
  readonly limits: Partial<DocumentLimits>;
  /** What it needs, and the most it may use; absent: it says nothing of it. */
  readonly permissions: {
    readonly read?: boolean | readonly string[];
    readonly write?: boolean | readonly string[];
    readonly net?: boolean | readonly string[];
    readonly run?: boolean;
  };
  readonly inputs: readonly DocumentInput[];
  /** The line of each key in the file, from 1; what is inside a key is told there (documents.md 1.3). */
  readonly lines: ReadonlyMap<string, number>;
}

/** What a document does not go beyond (documents.md 14). */
export interface DocumentLimits {
  /** How often each target may be reached. */
  readonly goto: number;
  /** Answers that call tools, of one operation. */
  readonly toolTurns: number;
  /** Of one `@shell`. */
  readonly shellTimeoutS: number;
}

/** A value that a document takes. */
export interface DocumentInput {
  readonly name: string;
  readonly description?: string;
  /** Absent: it must be given. */
  readonly default?: string;
}
