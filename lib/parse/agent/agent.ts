// What an agent file means, once it has been read (conversations.md 1): plain data with its defaults filled in.
import type { Effort, Json, JsonObject, Span } from "../../core/core.ts";

/** A conversation agent, as its file says it. */
export interface AgentFile {
  /** As it was named. */
  readonly file: string;
  readonly text: string;
  /** SHA-256 of the text, in hexadecimal. */
  readonly hash: string;
  /** `structure.id` */
  readonly id: string;
  readonly root: AgentStep;
  readonly constants: JsonObject;
  /** `structure.slots`: filled before the first step. */
  readonly preloads: readonly SlotPreload[];
}

/** All places of slots, that of the conversation first. */
export const DESTINATIONS = ["conversation", "global", "session", "module"] as const;

/** Where a slot lives, and for how long. */
export type SlotDestination = "conversation" | "session" | "module" | "global";

/** A slot by name. `global: true` has become the destination `global`. */
export interface SlotPath {
  readonly destination: SlotDestination;
  readonly name: string;
}

/** One step, of whatever kind. */
export type AgentStep = StepBase & StepAction;

/** A step of one kind. */
export type StepOf<Kind extends StepAction["kind"]> = StepBase & Extract<StepAction, { readonly kind: Kind }>;

/** What every step has. */
export interface StepBase {
  readonly id: string;
  readonly conditions: readonly StepCondition[];
  /** `structure.action.chain[1]` */
  readonly path: string;
  /** Of its first key. */
  readonly span: Span;
}

/** What a step does. Texts that may hold placeholders are as they were written. */
export type StepAction =
  | { readonly kind: "message"; readonly message: string; readonly hold: boolean }
  | ({ readonly kind: "llm" } & LlmFields)
  | { readonly kind: "chain"; readonly steps: readonly AgentStep[] }
  | { readonly kind: "combined"; readonly steps: readonly AgentStep[] }
  | { readonly kind: "flow"; readonly flow: StepFlow }
  | {
    readonly kind: "set-slot";
    readonly values: readonly { readonly path: SlotPath; readonly value: Json }[];
  }
  | ({ readonly kind: "api-call" } & RequestFields & BranchFields & { readonly target: SlotPath })
  | ({ readonly kind: "sse-call" } & RequestFields & { readonly store?: SlotPath })
  | ({ readonly kind: "validator" } & JudgeFields & BranchFields & {
    readonly goals: readonly ConversationGoal[];
    readonly type: "all" | "any";
  })
  | ({ readonly kind: "extractor" } & JudgeFields & BranchFields & {
    readonly values: readonly ExtractionValue[];
  })
  | {
    readonly kind: "retriever";
    readonly query: SlotPath;
    readonly target: SlotPath;
    readonly limit: number;
    readonly secondary: boolean;
  }
  | { readonly kind: "counter"; readonly slot: SlotPath }
  | ({ readonly kind: "summarizer" } & JudgeFields & { readonly type: "append" | "replace" })
  /** Beyond the seed (conversations.md 3): one call of a gadget. */
  | ({ readonly kind: "gadget" } & Partial<BranchFields> & {
    readonly name: string;
    readonly input: Json;
    readonly target?: SlotPath;
  })
  /** Beyond the seed: a document or a prompt as a sub-run. */
  | {
    readonly kind: "run";
    readonly file: string;
    readonly input?: Json;
    readonly target?: SlotPath;
  };

/** Where a step goes on. A `goto` may hold placeholders. */
export type StepFlow =
  | { readonly goto: string }
  | { readonly action: "continue" | "repeat" | "end" };

/** Where a step goes on that can fail. */
export interface BranchFields {
  readonly success: StepFlow;
  readonly fail: StepFlow;
}

/** How a model is asked. */
export interface ModelFields {
  readonly prompts: readonly AgentPrompt[];
  /** May hold `${env.NAME}`. */
  readonly model?: string;
  readonly temperature?: number;
  readonly memory?: readonly MemorySelection[];
  /** The newest messages that are taken of the memory. */
  readonly memoryLimit?: number;
  /** `effort`, `reasoning-effort`, or `reasining-effort` */
  readonly effort?: Effort;
}

/** The fields of `llm`. */
export interface LlmFields extends ModelFields {
  readonly store?: SlotPath;
  readonly hold: boolean;
  /** Beyond the seed: gadgets and MCP tools that the model may call. */
  readonly tools?: readonly string[];
  /** Beyond the seed: a prompt of the registry in place of `prompts`. */
  readonly prompt?: { readonly path: string; readonly args: JsonObject };
  /** Beyond the seed: JSON Schema of the answer. */
  readonly schema?: JsonObject;
}

/** The fields of a step in which a model judges. */
export interface JudgeFields extends ModelFields {
  readonly skipPrefix: boolean;
}

/** The fields of an HTTP request; all but `method` and `responsePath` may hold placeholders. */
export interface RequestFields {
  readonly url: string;
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  readonly headers: readonly { readonly key: string; readonly value: string }[];
  readonly body?: Json;
  /** JSONPath (RFC 9535); it has been read once. */
  readonly responsePath?: string;
}

/** One message of a prompt. */
export type AgentPrompt =
  | { readonly role: "system" | "user" | "assistant"; readonly text: string }
  | { readonly role: "constant"; readonly name: string };

/** Which entries of the log a model sees. */
export type MemorySelection = { readonly selector: "current" | "all" } | { readonly from: string };

/** A goal of a validator. */
export interface ConversationGoal {
  readonly name: string;
  readonly goal: string;
  readonly examples: readonly string[];
}

/** What an extractor looks for. */
export interface ExtractionSchema {
  readonly description: string;
  readonly type: "string" | "number" | "integer" | "boolean" | "array" | "object";
  readonly enum?: readonly string[];
  readonly examples: readonly string[];
  /** Of an array. */
  readonly items?: ExtractionSchema;
  /** Of an object. */
  readonly properties?: Readonly<Record<string, ExtractionSchema>>;
}

/** A value that an extractor looks for, and where it goes. */
export interface ExtractionValue extends ExtractionSchema {
  readonly target: SlotPath;
}

/** One condition of a step. */
export interface StepCondition {
  readonly slot: SlotPath;
  readonly operation: ConditionOperation;
}

/** What a slot is compared with. */
export type ConditionOperation =
  | { readonly operator: "equals" | "not-equals"; readonly value: Json }
  | { readonly operator: "exists"; readonly value: boolean }
  | {
    readonly operator: "greater-than" | "less-than" | "greater-than-or-equal" | "less-than-or-equal";
    readonly value: number;
  };

/** A slot that is filled before the first step. */
export interface SlotPreload {
  readonly name: string;
  readonly source: SlotSource;
}

/** The module or session that is looked at. */
export type SourceSelection = { readonly selector: "current" } | { readonly from: string };

/** Where the value of a preloaded slot comes from; `path` is a field name or a JSONPath. */
export type SlotSource =
  | {
    readonly kind: "session";
    readonly path: string;
    readonly session: SourceSelection;
    readonly module: SourceSelection;
  }
  | { readonly kind: "module"; readonly path: string; readonly module: SourceSelection }
  | { readonly kind: "user"; readonly path: string }
  | { readonly kind: "user-config"; readonly key: string; readonly path: string }
  | {
    readonly kind: "user-context-log";
    readonly key: string;
    readonly path: string;
    readonly filter: "latest" | "earliest";
  };

/** A short stable name of what is wrong with an agent file; a warning of one kind begins with `W` in place of `E`. */
export type AgentCode =
  | "E600"
  | "E601"
  | "E602"
  | "E603"
  | "E604"
  | "E605"
  | "E606"
  | "E607"
  | "W620"
  | "W621"
  | "W622"
  | "W623"
  | "W624"
  | "W625"
  | "W626"
  | "W627"
  | "W628"
  | "W629"
  | "W630"
  | "W631"
  | "W632"
  | "W633"
  | "W634"
  | "W635"
  | "W639";

/** Something that is wrong with an agent file, or that is likely not meant. */
export interface AgentProblem {
  /** As it was named. */
  readonly file: string;
  /** From 1. */
  readonly line: number;
  /** From 1, in UTF-16 units. */
  readonly column: number;
  /** The way to it: `structure.action.chain[1].flow.goto`; `file` for the whole file. */
  readonly path: string;
  /** What was found and what was expected, without the place. */
  readonly message: string;
  readonly severity: "error" | "warning";
  readonly code: AgentCode;
  /** What to do about it, where the message does not say it. */
  readonly hint?: string;
}

/**
 * An agent file cannot be used: everything that is wrong with it, a line each in the message.
 *
 * ```ts
 * import { AgentFileError, loadAgent } from "orrery";
 *
 * try {
 *   await loadAgent({ file: "hello.agent.yml", text: 'version: "0.1"\n' });
 * } catch (error) {
 *   if (error instanceof AgentFileError) console.log(error.message);
 * } // => hello.agent.yml:1:1: error: file: "structure" is required in the file
 * ```
 */
export class AgentFileError extends Error {
  override readonly name = "AgentFileError";
  /** The errors, at least one, in the order of the text. */
  readonly problems: readonly AgentProblem[];

  constructor(problems: readonly AgentProblem[]) {
    super(problems.map(lineOf).join("\n"));
    this.problems = problems;
  }
}

function lineOf({ file, line, column, severity, path, message }: AgentProblem): string {
  return `${file}:${line}:${column}: ${severity}: ${path}: ${message}`;
}
