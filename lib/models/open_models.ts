import { readScript } from "./script/script.ts";
import {
  type Clock,
  FileError,
  type Files,
  type Message,
  type Model,
  ModelError,
  type ModelId,
  modelIdText,
  type ModelPart,
  type ModelRequest,
  type Models,
  type ModelSettings,
  textOf,
  type ToolCall,
  wrappedModel,
} from "../core/core.ts";
import { type ModelList, modelList } from "./known_models.ts";
import { isClosed, withLeadingThoughts } from "./leading_thoughts.ts";
import { configError, noModel, resolvedModel } from "./model_config_error.ts";
import type { Env, FetchFunction } from "./provider/provider.ts";
import { DEFAULT_SILENCE, type Silence } from "./provider/silence.ts";
import { attempts, retrying, type RetryPolicy } from "./retrying.ts";

/** What models are made of. */
export interface OpenModelsOptions {
  readonly settings: ModelSettings;
  /** Asks the policy itself; streams. */
  readonly fetch: FetchFunction;
  readonly env: Env;
  /** Why a variable of the environment cannot be looked at; undefined when it can. Default: all can. */
  readonly unreadable?: (name: string) => string | undefined;
  readonly clock: Clock;
  /** Where the files of `script/FILE` are read. */
  readonly files: Pick<Files, "readText">;
  /** For the jitter of retries: a number from 0 to 1. Default `Math.random`. */
  readonly random?: () => number;
  /** Default: as turn.md 1 has it. */
  readonly retry?: RetryPolicy;
  /** How long a provider may be silent. Default 60 s to the first byte, and between two pieces. */
  readonly silence?: Silence;
  /** Opens a record for `replay/FILE`. */
  readonly replay?: (file: string) => Model | Promise<Model>;
}

/** Models by name, and a list of what there is. */
export interface OpenModels extends Models {
  list(): ModelList;
}

/**
 * The models of these settings (turn.md 1). A model tries again what may pass, and hands over to its fallbacks; the package of a
 * provider is loaded when its first call is made.
 */
export function openModels(options: OpenModelsOptions): OpenModels {
  const finder = new Finder(options);
  return {
    find: (name) => finder.find(name),
    list: () => modelList(options),
  };
}

class Finder {
  readonly #options: OpenModelsOptions;
  /** By id: a script goes on where it was, however often it is asked for. */
  readonly #models = new Map<string, Model | Promise<Model>>();

  constructor(options: OpenModelsOptions) {
    this.#options = options;
  }

  find(name: string | undefined): Model | Promise<Model> {
    const wanted = name ?? this.#options.settings.default;
    if (wanted === undefined) throw noModel(this.#options);
    const { way, id } = resolvedModel(wanted, this.#options.settings);
    const model = this.#single(id);
    const fallbacks = this.#fallbacks(way, id);
    if (fallbacks.length === 0) return model;
    return model instanceof Promise
      ? model.then((found) => fallingBack(found, fallbacks))
      : fallingBack(model, fallbacks);
  }

  #fallbacks(way: readonly string[], id: ModelId): readonly Fallback[] {
    const { fallback = {} } = this.#options.settings;
    const named = [...way, modelIdText(id)].find((each) => Object.hasOwn(fallback, each));
    const names = named === undefined ? [] : fallback[named] ?? [];
    return names.map((name) => {
      const { id } = resolvedModel(name, this.#options.settings);
      return { id: modelIdText(id), find: () => this.#single(id) };
    });
  }

  #single(id: ModelId): Model | Promise<Model> {
    const text = modelIdText(id);
    const before = this.#models.get(text);
    if (before !== undefined) return before;
    const model = this.#make(id);
    this.#models.set(text, model);
    if (model instanceof Promise) model.catch(() => this.#models.delete(text));
    return model;
  }

  #make(id: ModelId): Model | Promise<Model> {
    const { clock, random = Math.random, retry } = this.#options;
    const again = (model: Model) => retrying(model, { ...retry, clock, random });
    if (id.provider === "replay") return this.#replay(id.model);
    if (id.provider === "script") {
      return id.model === "echo" ? again(echoModel()) : this.#script(id).then(again);
    }
    return this.#provider(id).then(again);
  }

  /** What talks to providers is loaded with the first of them: a script needs none of it. */
  async #provider(id: ModelId): Promise<Model> {
    const { providerModel }: typeof import("./provider/model.ts") = await import(
      "./provider/model.ts" as string
    );
    const model = providerModel(id, { silence: DEFAULT_SILENCE, ...this.#options });
    const { thoughts } = this.#options.settings.providers?.[id.provider] ?? {};
    return thoughts === "text" ? model : withLeadingThoughts(model, thoughts === "reasoning");
  }

  async #script(id: ModelId): Promise<Model> {
    const { files, clock } = this.#options;
    const { scriptModel }: typeof import("./script/script.ts") = await import("./script/script.ts" as string);
    try {
      const replies = await readScript(await files.readText(id.model), id.model);
      const opensUnseen = replies.some(({ chunks }) => isClosed(chunks.join("")));
      return withLeadingThoughts(scriptModel(replies, { id: modelIdText(id), clock }), opensUnseen);
    } catch (cause) {
      if (!(cause instanceof FileError)) throw cause;
      throw configError(`The model ${modelIdText(id)} cannot be opened: ${cause.message}`, cause);
    }
  }

  #replay(file: string): Model | Promise<Model> {
    const { replay } = this.#options;
    if (replay !== undefined) return replay(file);
    throw configError(`The model replay/${file} cannot be opened here: nothing that reads records was given`);
  }
}

/** The model that takes over, found when it is needed. */
interface Fallback {
  /** `provider/model` */
  readonly id: string;
  find(): Model | Promise<Model>;
}

/** A model for which others take over, in order, when it fails before anything of its answer was shown. */
function fallingBack(model: Model, fallbacks: readonly Fallback[]): Model {
  return wrappedModel(model, (request) => {
    let attempt = 0;
    return attempts(() => model.stream(request), (error) => {
      const next = fallbacks[attempt++];
      if (next === undefined || !(error instanceof ModelError) || isFinal(error)) throw error;
      return {
        part: { type: "retry", attempt, delayMs: 0, error: error.message, model: next.id },
        open: async () => (await next.find()).stream(request),
      };
    });
  });
}

/** What another model would not do better: the user's own word. */
function isFinal({ code }: ModelError): boolean {
  return code === "aborted" || code === "permission";
}

// `script/echo`: a model with fixed rules, for tests and first steps without a network. Its rules are part of the specification
// (cases/documents/README.md, "The script model").

const ID = "script/echo";

/** The echo model. How often a text has failed, and how many calls it has made, it keeps for itself. */
export function echoModel(): Model {
  const failures = new Map<string, number>();
  let calls = 0;
  return {
    id: ID,
    async *stream(request) {
      request.signal?.throwIfAborted();
      const answer = answerTo(request, { failures, nextId: () => `call_${++calls}` });
      for (const call of answer.calls) {
        yield { type: "call-start", id: call.id, name: call.name };
        yield { type: "call-delta", id: call.id, text: call.arguments };
        yield { type: "call", call };
      }
      if (answer.text !== "") yield { type: "text", text: answer.text };
      yield finish(answer);
    },
  };
}

interface Answer {
  readonly text: string;
  readonly calls: readonly ToolCall[];
}

interface EchoState {
  readonly failures: Map<string, number>;
  nextId(): string;
}

function finish({ calls }: Answer): ModelPart {
  const reason = calls.length > 0 ? "calls" : "stop";
  return { type: "finish", reason, usage: { input: 0, output: 0 }, model: ID };
}

function answerTo(request: ModelRequest, state: EchoState): Answer {
  const { messages, tools = [], stop = [] } = request;
  const last = messages.at(-1);
  const said = (text: string): Answer => ({ text: cutAt(text, stop), calls: [] });
  if (last?.role === "tool") return said(`TOOLSAID[${oneLine(last.content)}]`);
  const asked = messages.findLast(({ role }) => role === "user");
  const text = asked === undefined ? "" : textOf(asked);
  const second = text.startsWith("The answer is not valid") ? maybeSecondAnswer(messages) : undefined;
  if (second !== undefined) return said(second);
  failMaybe(text, state);
  const verbatim = maybeAfterLine(text, "SAY:");
  if (verbatim !== undefined) return said(beforeLine(verbatim, "THEN:"));
  const calls = tools.length === 0 ? [] : callsIn(text, state);
  return calls.length > 0 ? { text: "", calls } : said(`ECHO[${text}]`);
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ").slice(0, 80);
}

function maybeSecondAnswer(messages: readonly Message[]): string | undefined {
  const texts = messages.filter(({ role }) => role === "user").map(textOf);
  return texts.map((text) => maybeAfterLine(text, "THEN:")).find((text) => text !== undefined);
}

function failMaybe(text: string, { failures }: EchoState): void {
  const fail = /^FAIL(?: (?<times>\d+))?$/m.exec(text);
  if (fail === null) return;
  const failed = failures.get(text) ?? 0;
  const times = fail.groups?.times;
  if (times === undefined) throw new ModelError("script provider failed", { code: "request" });
  if (failed >= Number(times)) return;
  failures.set(text, failed + 1);
  throw new ModelError("script provider failed", { code: "server", retryAfterMs: 0 });
}

/** What comes after the first line that is just this. */
function maybeAfterLine(text: string, line: string): string | undefined {
  const lines = text.split("\n");
  const at = lines.indexOf(line);
  return at === -1 ? undefined : lines.slice(at + 1).join("\n");
}

function beforeLine(text: string, line: string): string {
  const lines = text.split("\n");
  const at = lines.indexOf(line);
  return at === -1 ? text : lines.slice(0, at).join("\n");
}

function callsIn(text: string, { nextId }: EchoState): readonly ToolCall[] {
  return [...text.matchAll(/^CALL (?<name>\S+)(?: (?<input>.*))?$/gm)].map(({ groups }) => ({
    id: nextId(),
    name: groups?.name ?? "",
    arguments: groups?.input ?? "",
  }));
}

function cutAt(text: string, stop: readonly string[]): string {
  const places = stop.map((each) => text.indexOf(each)).filter((at) => at !== -1);
  return places.length === 0 ? text : text.slice(0, Math.min(...places));
}
