import {
  type Collection,
  ConversationError,
  type Http,
  isJsonObject,
  type Json,
  type JsonObject,
  type Message,
  type Model,
  type ModelRequest,
  objectOrEmpty,
} from "../../core/core.ts";
import type { AgentStep, MemorySelection, SlotPath } from "../../parse/agent/agent.ts";
import type { Budget } from "../budget.ts";
import type { Containers } from "../calls/container.ts";
import type { CallLimits } from "../calls/graph.ts";
import type { Run } from "../run.ts";
import type { ToolSource } from "../turn/offered.ts";

/** A step went wrong: `step "id": MESSAGE` (conversations.md 2.8). */
export class ConversationStepError extends Error {
  override readonly name = "ConversationStepError";
  readonly step: string;

  /** @param reason without the `step "id": ` in front */
  constructor(step: string, reason: string, options?: ErrorOptions) {
    super(`step "${step}": ${reason}`, options);
    this.step = step;
  }
}

/** What the steps of a conversation work with. */
export interface ConversationMeans {
  readonly models: ConversationModels;
  readonly http: Http;
  /** What retrievers look in. Absent: there is none. */
  readonly collection?: Collection;
  /** Gadgets and MCP tools, by name. */
  readonly tools: ToolSource;
  readonly budget: Budget;
  readonly calls: Pick<CallLimits, "timeoutMs" | "resultBytes">;
  /** Of a model call, of a request, and between two events of a stream, in ms. Default 60,000, and 30,000 for `api-call`. */
  readonly timeoutMs?: number;
  /** The value of an environment variable that the user has granted. @throws {Error} that says what to do */
  env(name: string): string | Promise<string>;
  /** Runs a document or a prompt, as a part of this run. @throws {Error} that says what is wrong */
  runFile(
    file: string,
    options: {
      readonly input?: Json;
      readonly run: Run;
      readonly keyPrefix: string;
      readonly signal: AbortSignal;
    },
  ): Promise<Json>;
  /** A prompt of the registry, for `llm.prompt`. */
  askPrompt(
    path: string,
    options: { readonly args: JsonObject; readonly work: StepWork<AgentStep> },
  ): Promise<Json>;
}

/** Names to models. */
export interface ConversationModels {
  /**
   * A program's own function is a model too. Undefined: no name is given, and no default is configured.
   *
   * @param name absent: the configured default
   * @throws {ModelError} `config`: there is none of that name, or it cannot be asked
   */
  find(name: string | undefined, asked: AskedModel): Model | undefined | Promise<Model | undefined>;
}

/** What a program's own model is told of a question besides its messages. */
export interface AskedModel {
  readonly step: string;
  readonly kind: "llm" | "validator" | "extractor" | "summarizer";
  readonly prompts: readonly Message[];
  readonly memory: readonly Message[];
  readonly schema?: NonNullable<ModelRequest["schema"]>;
}

/** What one step, on one visit, works with. Everything in it is of the branch that the step is in. */
export interface StepWork<Step> {
  readonly run: Run;
  readonly means: ConversationMeans;
  readonly step: Step;
  /** Of its effects, as the beginning of their keys: `turn[2]/main/ask#4`. */
  readonly key: string;
  readonly constants: JsonObject;
  /** Aborted when the run is, and never before. */
  readonly signal: AbortSignal;
  /** A text with its placeholders filled. `as`: each value as it has to stand in a URL. */
  fill(text: string, as?: "url"): string;
  /** Mappings and lists are filled all through; text that is one placeholder keeps the type of the slot (conversations.md 2.6). */
  fillValue(value: Json): Json;
  slot(path: SlotPath): Json | undefined;
  /** Tells of it too. */
  setSlot(path: SlotPath, value: Json): void;
  /** Selected entries of the log as messages, newest last; `limit` is the number of the newest that are taken. */
  memory(selections: readonly MemorySelection[], limit: number | undefined): readonly Message[];
  /** Text of one message of this step, as it streams; told in the order of the document. */
  delta(text: string): void;
  /** The whole text of a message of this step: it goes into the log. Deltas before it are parts of it; without any the text is told as one. */
  say(text: string): void;
  /** Deltas without a `say` are no message: what was told of it is void. */
  discard(): void;
  /** The step is named in front. */
  warn(text: string): void;
}

// What a conversation runs inside of itself (conversations.md 3): a document, or a prompt. Its steps are steps of the conversation's run.

/** Runs them by what the run can contain. */
export const conversationSubRuns: Pick<ConversationMeans, "runFile" | "askPrompt"> = {
  async runFile(file, { input, run, keyPrefix, signal }) {
    const containers = await containersOf(run);
    if (!/\.md$/i.test(file)) {
      const parameters = { path: file, args: objectOrEmpty(input) };
      return await needed(containers.prompt)({ run, keyPrefix, signal, parameters });
    }
    return await needed(containers.document)({
      run,
      keyPrefix,
      signal,
      parameters: { file, ...documentInput(input) },
    });
  },
  async askPrompt(path, { args, work: { run, key, signal } }) {
    const { prompt } = await containersOf(run);
    return await needed(prompt)({ run, keyPrefix: `${key}/`, signal, parameters: { path, args } });
  },
};

/** A mapping gives a document its inputs, anything else is its prompt. */
function documentInput(input: Json | undefined): JsonObject {
  if (input === undefined || input === null) return {};
  return isJsonObject(input)
    ? { inputs: input }
    : { prompt: typeof input === "string" ? input : JSON.stringify(input) };
}

async function containersOf(run: Run): Promise<Containers> {
  return await run.containers ?? {};
}

function needed<Contained>(contained: Contained | undefined): Contained {
  if (contained === undefined) {
    throw new Error("nothing can be run inside of this conversation: use `orrery run` or `orrery chat`");
  }
  return contained;
}

/** It is still answering, here or in another process. */
export function busyError(cause?: unknown): ConversationError {
  return new ConversationError("The agent is still answering; try again when it is done.", "busy", { cause });
}

/** It takes no message any more. */
export function endedError(cause?: unknown): ConversationError {
  return new ConversationError("This conversation has ended. Start a new one.", "ended", { cause });
}
