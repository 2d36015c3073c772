import { didYouMeanNames } from "../core/did_you_mean_names.ts";
import type { AnyGadget } from "../core/gadget.ts";
import { decodeSegment } from "../core/json.ts";
import { ModelError } from "../core/model.ts";
import { messageOf } from "../core/source_error.ts";
import type { PermissionRequest } from "../core/world.ts";
import type { AgentStep } from "../parse/agent/agent.ts";
import type { FilePath } from "../parse/shape/shape.ts";
import type { AskedModel, ConversationMeans } from "../run/conversation_work.ts";
import { EnvText } from "../run/env_text.ts";
import { settledIssues } from "../schema/validate.ts";
import type { RunProblem } from "./run_step_problem.ts";

/** What the steps of an agent will meet. */
export interface AgentMeets {
  readonly means: Pick<ConversationMeans, "models" | "tools">;
  /** Whether there is something for retrievers to look in. */
  readonly hasCollection: boolean;
  /** Whether a model has this name: what else is missing is a matter of the machine. */
  isModelName(name: string | undefined): boolean;
  /** Why it would be refused, and nobody could be asked: `needs --allow-net=example.com:443`. */
  refusal(request: PermissionRequest): string | undefined;
  /** What is wrong with a variable of the environment that may be read. */
  envProblem(name: string): string | undefined;
  /** What is wrong with the name of a document or a prompt. */
  runProblem(file: string): Promise<RunProblem | undefined>;
}

/** Something that a step needs and that is not there. */
export interface Need {
  /** From the step. */
  readonly path: FilePath;
  readonly message: string;
  /** Whoever runs it may have it, or give it: a grant, a variable, a key. */
  readonly isOpen?: boolean;
}

type StepOfKind<Kind extends AgentStep["kind"]> = Extract<AgentStep, { readonly kind: Kind }>;

const NO_MODEL =
  'no model set; add "model" or configure a default: --model, or models.default of orrery.yaml';

/** Looks at steps one after the other. A model is told of once, since many steps ask the same. */
export class StepNeeds {
  readonly #meets: AgentMeets;
  readonly #models = new Set<string | undefined>();

  constructor(meets: AgentMeets) {
    this.#meets = meets;
  }

  async of(step: AgentStep): Promise<readonly Need[]> {
    switch (step.kind) {
      case "api-call":
      case "sse-call":
        return this.#request(step);
      case "llm":
        return await this.#llm(step);
      case "validator":
      case "extractor":
      case "summarizer":
        return await this.#model(step, step.kind);
      case "gadget":
        return await this.#call(step);
      case "run":
        return await this.#file(step.file, ["run", "file"]);
      case "retriever":
        return this.#meets.hasCollection ? [] : [NO_COLLECTION];
      case "chain":
      case "combined":
      case "flow":
      case "message":
      case "set-slot":
      case "counter":
        return [];
      default:
        return step satisfies never;
    }
  }

  #request({ kind, url, headers }: StepOfKind<"api-call" | "sse-call">): readonly Need[] {
    const host = literalHost(url);
    const refused = host === undefined ? undefined : this.#meets.refusal({ kind: "net", value: host });
    return [
      ...openNeed(refused, [kind, "url"]),
      ...this.#env(url, [kind, "url"]),
      ...headers.flatMap(({ value }, index) => this.#env(value, [kind, "headers", index, "value"])),
    ];
  }

  /** `${env.NAME}` */
  #env(text: string, path: FilePath): readonly Need[] {
    const { refusal, envProblem } = this.#meets;
    return new EnvText(text, (part) => part).names.flatMap((name) =>
      openNeed(refusal({ kind: "env", value: name }) ?? envProblem(name), path)
    );
  }

  async #llm(step: StepOfKind<"llm">): Promise<readonly Need[]> {
    if (step.prompt !== undefined) return await this.#file(step.prompt.path, ["llm", "prompt"]);
    const tools = await Promise.all(
      (step.tools ?? []).map((name, index) => this.#gadget("tool", name, ["llm", "tools", index])),
    );
    return [...await this.#model(step, "llm"), ...tools.flatMap(({ needs }) => needs)];
  }

  /** What a slot or a constant fills in is left to the run. */
  async #call({ name, input }: StepOfKind<"gadget">): Promise<readonly Need[]> {
    const { gadget, needs } = await this.#gadget("gadget", name, ["gadget", "name"]);
    if (gadget === undefined) return needs;
    const path = ["gadget", "input"];
    try {
      const issues = await settledIssues(gadget.input, input, (text) => text.includes("{{"));
      return issues.map(({ pointer, message }) => ({
        path: [...path, ...pointer.split("/").filter((key) => key !== "").map(decodeSegment)],
        message: `gadget "${name}" does not take this: ${message}`,
      }));
    } catch (error) {
      return needOf(`gadget "${name}": ${messageOf(error)}`, path);
    }
  }

  async #model(
    { id, model }: StepOfKind<AskedModel["kind"]>,
    kind: AskedModel["kind"],
  ): Promise<readonly Need[]> {
    const path = model === undefined ? [kind] : [kind, "model"];
    const hasVariables = model !== undefined && new EnvText(model, (part) => part).names.length > 0;
    if (hasVariables) return this.#env(model, path);
    if (this.#models.has(model)) return [];
    this.#models.add(model);
    const asked: AskedModel = { step: id, kind, prompts: [], memory: [] };
    const problem = await this.#modelProblem(model, asked);
    return model === undefined || this.#meets.isModelName(model)
      ? openNeed(problem, path)
      : needOf(problem, path);
  }

  async #modelProblem(name: string | undefined, asked: AskedModel): Promise<string | undefined> {
    try {
      const found = await this.#meets.means.models.find(name, asked);
      return found === undefined ? NO_MODEL : undefined;
    } catch (error) {
      if (error instanceof ModelError && error.code === "config") return error.message;
      throw error;
    }
  }

  async #gadget(
    what: "gadget" | "tool",
    name: string,
    path: FilePath,
  ): Promise<{ readonly gadget?: AnyGadget; readonly needs: readonly Need[] }> {
    const { tools } = this.#meets.means;
    try {
      const gadget = await tools.find(name);
      if (gadget !== undefined) return { gadget, needs: [] };
    } catch (error) {
      const isRefused = error instanceof ModelError && error.code === "permission";
      return { needs: (isRefused ? openNeed : needOf)(`${what} "${name}": ${messageOf(error)}`, path) };
    }
    return { needs: needOf(`unknown ${what} "${name}"${didYouMeanNames(name, await tools.names())}`, path) };
  }

  async #file(file: string, path: FilePath): Promise<readonly Need[]> {
    const problem = await this.#meets.runProblem(file);
    return problem === undefined ? [] : [{ ...problem, path }];
  }
}

const NO_COLLECTION: Need = {
  path: ["retriever"],
  message:
    "no document collection is configured: --collection FILE, or conversations.collection of orrery.yaml",
};

function needOf(message: string | undefined, path: FilePath): readonly Need[] {
  return message === undefined ? [] : [{ path, message }];
}

function openNeed(message: string | undefined, path: FilePath): readonly Need[] {
  return needOf(message, path).map((need) => ({ ...need, isOpen: true }));
}

const PORTS: Readonly<Record<string, string>> = { "http:": "80", "https:": "443" };

/** `host:port` of a URL; undefined where slots or variables decide it. */
function literalHost(url: string): string | undefined {
  const [start, authority = ""] = /^https?:\/\/([^/?#\\]+)/i.exec(url) ?? [];
  if (start === undefined || /\{\{|\$\{/.test(authority) || !URL.canParse(start)) return undefined;
  const { protocol, hostname, port } = new URL(start);
  return `${hostname}:${port === "" ? PORTS[protocol] ?? "" : port}`;
}
