// What an agent needs and this run of it would not have. Told before its first step is made: the turn that comes to it may be the tenth.
import { preloadSlots } from "../../conversation/slots.ts";
import {
  type AnyGadget,
  decodeSegment,
  didYouMeanNames,
  FileError,
  type JsonObject,
  messageOf,
  ModelError,
  type PermissionRequest,
  PromptError,
} from "../../core/core.ts";
import { hostFiles } from "../../host/files/files.ts";
import type { AgentFile, AgentProblem, AgentStep } from "../../parse/agent/agent.ts";
import { stepPlaces } from "../../parse/agent/tree.ts";
import { type FilePath, pathText } from "../../parse/shape/shape.ts";
import { readYaml } from "../../parse/yaml/yaml.ts";
import { type OpenedPrompts, openPrompts } from "../../project/prompt_index.ts";
import { promptTrouble } from "../../prompt/prompt_trouble.ts";
import { promptNotFound } from "../../prompt/registry.ts";
import { printable } from "../../render/shown_text.ts";
import type { AskedModel, ConversationMeans } from "../../run/conversation/work.ts";
import { EnvText } from "../../run/conversation/request.ts";
import { settledIssues } from "../../schema/validate.ts";

/** What an agent will meet. */
export interface AgentNeedsOptions extends AgentMeets {
  /** What its slots are to be filled from; absent when they are filled already. */
  readonly context: JsonObject | undefined;
}

/** Something that is missing, at its place. */
export type AgentNeed = AgentLine & Required<Pick<Need, "isOpen">>;

/** Everything that can be known to be missing, slots first, then in the order of the file. */
export async function agentNeeds(
  agent: AgentFile,
  options: AgentNeedsOptions,
): Promise<readonly AgentNeed[]> {
  const steps = new StepNeeds(options);
  const needs: Need[] = [...preloadNeeds(agent, options)];
  for (const { step, path } of stepPlaces(agent.root)) {
    needs.push(...(await steps.of(step)).map((need) => ({ ...need, path: [...path, ...need.path] })));
  }
  return needs.length === 0 ? [] : await placedNeeds(agent, needs);
}

/** `slots[0]: there is no module "x"` (conversations.md 2.11) */
function preloadNeeds(agent: AgentFile, { context }: AgentNeedsOptions): readonly Need[] {
  try {
    if (context !== undefined) preloadSlots(agent, context);
    return [];
  } catch (error) {
    const [, index = "0", message = ""] = /^slots\[(\d+)\]: (.*)$/s.exec(messageOf(error)) ?? [];
    if (message === "") throw error;
    return [{ path: ["structure", "slots", Number(index)], message }];
  }
}

/** Needs as errors, each with its place in the file. */
async function placedNeeds(
  { file, text }: AgentFile,
  needs: readonly Need[],
): Promise<readonly AgentNeed[]> {
  const yaml = await readYaml(text, file);
  return needs.map(({ path, message, isOpen = false }) => ({
    isOpen,
    ...yaml.near(path),
    file,
    path: pathText(path),
    message,
    severity: "error",
  }));
}

/** A problem of an agent file, at its place. */
export type AgentLine = Omit<AgentProblem, "code">;

/** Problems as text, a line each: `support.agent.yml:12:7: error: structure.id: MESSAGE` (conversations.md 2.12), and what to do below it. */
export function agentLines(problems: readonly AgentLine[]): string {
  const lines = problems.flatMap(({ file, line, column, severity, path, message, hint }) => [
    `${file}:${line}:${column}: ${severity}: ${path}: ${oneLine(message)}`,
    ...(hint === undefined ? [] : [`  ${oneLine(hint)}`]),
  ]);
  return lines.map((text) => `${printable(text)}\n`).join("");
}

function oneLine(text: string): string {
  return text.replaceAll(/\s*\n\s*/g, " ");
}

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
interface Need {
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
class StepNeeds {
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

/** Why a document or a prompt is not there; where it `isOpen`, a module whose code was not loaded may have it. */
interface RunProblem {
  readonly message: string;
  readonly isOpen?: boolean;
}

/** Gives what is wrong with the name of a document or a prompt of a project; undefined when it is there. */
export function runStepProblem(
  { root, trustsCode }: { readonly root: string; readonly trustsCode: boolean },
): (file: string) => Promise<RunProblem | undefined> {
  let prompts: Promise<OpenedPrompts> | undefined;
  return async (file) => {
    if (/\.md$/i.test(file)) return problemOf(await documentProblem(file, root));
    const opened = await (prompts ??= openPrompts(root, { trustsCode }));
    const isOpen = !trustsCode && opened.problems.some((problem) => MODULE.test(problem.file));
    return problemOf(promptProblem(file, opened), isOpen);
  };
}

const MODULE = /\.[cm]?[jt]s$/;

function problemOf(message: string | undefined, isOpen = false): RunProblem | undefined {
  return message === undefined ? undefined : { message, isOpen };
}

async function documentProblem(file: string, root: string): Promise<string | undefined> {
  try {
    const { kind } = await hostFiles({ root }).stat(file);
    return kind === "folder" ? `"${file}" is a folder, not a document` : undefined;
  } catch (error) {
    if (error instanceof FileError) return error.message;
    throw error;
  }
}

function promptProblem(path: string, { registry, problems }: OpenedPrompts): string | undefined {
  try {
    if (registry.has(path)) return undefined;
  } catch (error) {
    if (error instanceof PromptError) return error.message;
    throw error;
  }
  const { isThere, lines, broken } = promptTrouble(path, problems);
  const what = isThere ? `prompt "${path}" cannot be used:` : promptNotFound(path, registry.keys(), broken);
  return [what, ...lines].join(" ");
}
