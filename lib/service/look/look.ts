// What is in a project, as data: lists, pages of one thing, checks. All of it is plain JSON.

import type { Effort, Json, JsonObject } from "../../core/core.ts";

/** A gadget; the schemas are absent where it could not be loaded. */
export type GadgetJson = {
  readonly name: string;
  /** `built-in`, `project`, `file`, `mcp`, `code`; with the `file` and the `server` where there is one. */
  readonly source: { readonly kind: string; readonly file?: string; readonly server?: string };
  readonly state: "ready" | "not-trusted" | "broken";
  /** Why it is not ready, and what to do. */
  readonly problem?: string;
  readonly description: string;
  readonly input?: JsonObject;
  readonly output?: JsonObject;
  /** As its manifest has them. */
  readonly permissions: JsonObject;
  readonly timeoutMs?: number;
  readonly examples: readonly Json[];
  readonly grant?: {
    readonly state: "granted" | "not-needed" | "open";
    readonly from: readonly string[];
    readonly changes: readonly string[];
    /** What it may do by that; absent when nobody has granted it anything. */
    readonly permissions?: JsonObject;
  };
  /** What its module told the console when it was looked at. */
  readonly said?: string;
};

/** A prompt of the registry, in the list. */
export type ListedPrompt = {
  readonly path: string;
  readonly description?: string;
  /** What its answer has to be. */
  readonly answer: "text" | "tags" | "parser" | "json";
  readonly tools: readonly string[];
  readonly variables: readonly string[];
  /** What is to be given, as a JSON Schema. */
  readonly input: JsonObject;
  readonly file: string;
  /** Of a module: the name it is exported by. */
  readonly export?: string;
};

/** A prompt, complete; `text` is null where values are missing. */
export type PromptPageJson = ListedPrompt & {
  /** From 1. */
  readonly line: number;
  readonly template: string;
  readonly missing: readonly string[];
  readonly text: string | null;
  /** What its answer is held to, such as its tags or its JSON Schema. */
  readonly contract: Json;
  readonly toolList: readonly {
    readonly name: string;
    readonly state: string;
    readonly description?: string;
    readonly problem?: string;
  }[];
  readonly handler: JsonObject;
  readonly metadata: Json;
  readonly promptHash: string;
  readonly contractHash: string;
};

/** A tactic. */
export type ListedTactic = {
  readonly name: string;
  /** The profiles that it works with. */
  readonly agents: readonly string[];
  readonly file: string;
  readonly line: number;
};

/** An agent of `orrery.yaml`; without what may be secret. */
export type ProfileJson = {
  readonly name: string;
  readonly model: string;
  readonly effort?: Effort;
  /** The path of its system prompt, or else the text. */
  readonly systemPrompt: string | null;
  readonly system: string | null;
  readonly limits: JsonObject;
  readonly modelArgs: Json;
};

/** An agent file; `problem` in place of the rest where it is broken. */
export type ListedAgent = {
  readonly file: string;
  readonly id?: string;
  readonly description?: string;
  readonly steps?: number;
  readonly problem?: string;
};

/** A step of an agent, in short. */
export type AgentStepJson = {
  readonly id: string;
  readonly kind: string;
  /** How many chains and combined steps it stands in. */
  readonly depth: number;
  readonly line: number;
  readonly isHolding: boolean;
  readonly conditions: readonly string[];
  /** Where it goes on, by the key that says so. */
  readonly flows: { readonly [key: string]: string };
  readonly reads: readonly string[];
  readonly writes: readonly string[];
};

/** An agent file, complete. */
export type AgentPageJson = ListedAgent & {
  readonly source: string;
  readonly constants: JsonObject;
  /** The slots that are filled before the first step, and from where. */
  readonly slots: readonly { readonly name: string; readonly from: string }[];
  readonly stepList: readonly AgentStepJson[];
  readonly problems: readonly ProblemJson[];
};

/** A document, in the list. */
export type ListedDocument = {
  readonly file: string;
  readonly title: string | null;
  readonly description: string | null;
  readonly inputs: readonly {
    readonly name: string;
    readonly description: string | null;
    readonly default: Json;
  }[];
  /** The same as a JSON Schema. */
  readonly input: JsonObject;
  readonly operations: number;
};

/** A thing that a document uses, and where. */
export type UsedJson = { readonly name: string; readonly lines: readonly number[] };

/** Something that a document may do only where that is granted. */
export type NeedJson = {
  readonly kind: "read" | "write" | "net" | "run";
  /** The path, or the host; of `run` the command that reads its scripts. `null`: any. */
  readonly of: string | null;
  /** Where the document says so, or does it. */
  readonly lines: readonly number[];
  /** Whether a run that is started here may do it: at once, or (`asked`) when somebody allows it, where the run may ask. */
  readonly state: "granted" | "asked" | "refused";
  /** What would grant it: a flag of the command, or an entry of the settings. */
  readonly grant: string;
};

/** A document, complete. */
export type DocumentPageJson = ListedDocument & {
  readonly source: string;
  readonly needs: readonly NeedJson[];
  readonly models: readonly UsedJson[];
  readonly tools: readonly UsedJson[];
  readonly imports: readonly UsedJson[];
  readonly runs: readonly UsedJson[];
  readonly defaults: JsonObject;
  readonly limits: JsonObject;
  readonly operationList: readonly {
    readonly name: string;
    readonly line: number;
    readonly section: string | null;
    readonly parameters: JsonObject;
  }[];
  readonly blocks: readonly {
    readonly id: string;
    readonly title: string;
    readonly level: number;
    readonly line: number;
  }[];
  readonly problems: readonly ProblemJson[];
};

/** A file of calls. */
export type ListedCalls = { readonly file: string };

/** A model that can be named. */
export type ListedModel = {
  readonly id: string;
  /** `form`: FILE in it stands for a file. */
  readonly kind: "alias" | "model" | "offline" | "form";
  /** Whether it can be asked; else `about` says what is missing. */
  readonly usable: boolean;
  readonly about?: string;
  /** What an alias stands for. */
  readonly model?: string;
  readonly fallback?: readonly string[];
  readonly provider?: string;
  readonly contextTokens?: number;
  /** Dollars for a million tokens. */
  readonly price?: JsonObject;
  /** Whether it is the one that is asked when nothing else is said. */
  readonly isDefault?: boolean;
};

/** Everything that can be run, with schemas. */
export type CatalogJson = {
  readonly gadgets: readonly GadgetJson[];
  readonly prompts: readonly ListedPrompt[];
  readonly tactics: readonly ListedTactic[];
  readonly profiles: readonly ProfileJson[];
  readonly agents: readonly ListedAgent[];
  readonly documents: readonly ListedDocument[];
  readonly calls: readonly ListedCalls[];
  readonly models: readonly ListedModel[];
  /** What could not be read, with file, line and column. */
  readonly problems: readonly ProblemJson[];
};

/** A part of the catalogue. */
export type CatalogPart = keyof CatalogJson;

/** All of them. */
export const CATALOG_PARTS: readonly CatalogPart[] = [
  "gadgets",
  "prompts",
  "tactics",
  "profiles",
  "agents",
  "documents",
  "calls",
  "models",
  "problems",
];

/** Something that is wrong with a file. */
export type ProblemJson = {
  readonly code: string;
  readonly severity: "error" | "warning";
  readonly message: string;
  /** Relative to the root, or the name of a posted text. */
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly hint?: string;
};

/** What was checked. */
export type CheckWanted =
  | { readonly files?: readonly string[] }
  | { readonly text: { readonly name: string; readonly text: string } };

/** A graph, in two forms. */
export type GraphJson = {
  readonly mermaid: string;
  readonly svg: string;
  readonly problems: readonly ProblemJson[];
};

/** A prompt with its values, as a model would get it. */
export type RenderedPrompt = {
  readonly text: string;
  readonly tools: readonly string[];
  readonly contract: Json;
};

/** Looks at the project; nothing of it runs. Each fails with a `ServiceError`: `not-found` for what is not there, `outside`, `invalid`. */
export interface Look {
  /** @param only what is wanted; the rest is empty. Default: all of it */
  catalog(only?: readonly CatalogPart[]): Promise<CatalogJson>;
  gadget(name: string): Promise<GadgetJson>;
  prompt(path: string): Promise<PromptPageJson>;
  tactic(name: string): Promise<ListedTactic>;
  document(path: string): Promise<DocumentPageJson>;
  agent(path: string): Promise<AgentPageJson>;
  profile(name: string): Promise<ProfileJson>;
  /** The text of a file of the project, to be shown. */
  source(path: string): Promise<string>;
  render(path: string, input: JsonObject): Promise<RenderedPrompt>;
  check(wanted: CheckWanted): Promise<readonly ProblemJson[]>;
  /** Of a call file, a document or an agent. */
  graph(path: string): Promise<GraphJson>;
}
