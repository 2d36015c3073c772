import type {
  JsonObject,
  McpServerSettings,
  ModelSettings,
  ProviderSettings,
  Span,
} from "../../core/core.ts";
import type { Markers } from "../../parse/calls/header.ts";
import type { DocumentLimits } from "../../parse/document/operation.ts";
import type { ConfigFile } from "./table.ts";

/** What is granted to a gadget: all that it wants, or these permissions. */
export type Grant = NonNullable<ConfigFile["grants"]>[string];

/** Who starts programs, as grants name them: exactly so, since a gadget of the project may be called something like it. */
export const COMMAND_NAMES = ["RunCommand", "@shell"] as const;

/** One of them. */
export type CommandName = typeof COMMAND_NAMES[number];

/** By gadget, its file, or server, as a word that means it in this project. */
export type Grants = Readonly<Record<string, Grant>>;

/** Gadgets that run in the process of Orrery. */
export type Isolation = Readonly<Record<string, "none">>;

/** A folder of gadget modules. */
export interface GadgetFolder {
  /** Absolute. */
  readonly path: string;
  /** Where it was written; absent for the default, which need not exist. */
  readonly written?: { readonly span: Span; readonly source: string };
}

/** MCP servers by name. */
export type McpServers = Readonly<Record<string, McpServerSettings>>;

/** Model providers by name. */
export type Providers = Readonly<Record<string, ProviderSettings>>;

/** What no run goes beyond; a budget that is absent is not there. */
export interface Limits {
  readonly concurrency: number;
  readonly timeoutMs: number;
  readonly resultBytes: number;
  /** How long the process of a gadget is kept when nobody uses it. */
  readonly gadgetIdleMs: number;
  /** What the process of one gadget may take. */
  readonly gadgetMemoryBytes: number;
  /** Model turns of a run. */
  readonly turns: number;
  /** How often an answer that does not meet its output contract goes back. */
  readonly retries: number;
  /** How many a server has under way at once. */
  readonly runs: number;
  /** Of a run: input and output together. */
  readonly tokens?: number;
  /** Of a run: US dollars. */
  readonly cost?: number;
  /** Of a run. */
  readonly timeMs?: number;
}

/** What holds for documents that say nothing else (documents.md). */
export interface DocumentDefaults {
  /** Models see the operations too. */
  readonly showsOperations: boolean;
  readonly temperature?: number;
  /** The command that reads the scripts of `@shell`. */
  readonly shell?: string;
  readonly limits: DocumentLimits;
}

/** The limits of documents where neither they nor a configuration file say anything (documents.md 14). */
export const DOCUMENT_LIMITS: DocumentLimits = { goto: 30, toolTurns: 8, shellTimeoutS: 120 };

/** What holds for conversations (conversations.md). */
export interface ConversationDefaults {
  /** The file of the collection that retrievers search: absolute. */
  readonly collection?: string;
  /** The model of embeddings that they search with besides words: `provider/model`, or an alias. */
  readonly embeddings?: string;
  /** Of one model call, and of one request of a step. */
  readonly timeoutMs?: number;
  /** Steps that are made without waiting for the person. */
  readonly steps: number;
}

/** The steps of a conversation where no configuration file says anything (conversations.md 2.3). */
export const CONVERSATION_STEPS = 250;

/** The settings of a run: those of the project over those of the user over the defaults (config.md). */
export interface Config {
  readonly calls: { readonly markers: Markers };
  /** `providers` is what the user's own file says; a project's are in `project`. */
  readonly models: ModelSettings;
  /** Over the default of every kind of run. */
  readonly toolsMode?: "blocks" | "native";
  /** What the user's own file says; a project's are in `project`. */
  readonly mcpServers: McpServers;
  /** `isolation` is what the user's own file says for this project; a project's is in `project`. */
  readonly gadgets: { readonly folders: readonly GadgetFolder[]; readonly isolation: Isolation };
  /** What the user's own file says, as far as it is for this project; a project's are in `project`. */
  readonly grants: Grants;
  readonly limits: Limits;
  readonly documents: DocumentDefaults;
  readonly conversations: ConversationDefaults;
  /** What the user's own file says. */
  readonly telemetry: NonNullable<ConfigFile["telemetry"]>;
  /** Globs of what a check leaves out of folders; default none. */
  readonly exclude?: readonly string[];
  /** What counts only after this user accepted the project (gadgets.md 3). */
  readonly project: ProjectWord;
  /** What was ignored, and why; a line each. */
  readonly notices: readonly string[];
}

/** What a project says for itself. */
export interface ProjectWord {
  readonly grants: Grants;
  readonly isolation: Isolation;
  readonly providers: Providers;
  readonly mcpServers: McpServers;
  /** Those parts as they were written, also the ones of later versions, for the acceptance; empty when there are none. */
  readonly parts: JsonObject;
}

/** Where the gadget modules of a project are. */
export const GADGET_FOLDER = "gadgets";

/**
 * The settings of a project that the user accepted: its own providers and MCP servers count too, over the user's (gadgets.md 3).
 * What it says of gadgets is read where gadgets are trusted.
 */
export function acceptedConfig(config: Config): Config {
  const { models, mcpServers, project } = config;
  return {
    ...config,
    models: { ...models, providers: { ...models.providers, ...project.providers } },
    mcpServers: { ...mcpServers, ...project.mcpServers },
  };
}
