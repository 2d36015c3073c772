// What is in the project, looked at when it is asked for: files as they are by then, gadgets and prompts as the project holds them.
import { basename, resolve } from "node:path";
import { projectPath } from "../../core/paths.ts";
import type { LocatedPrompt } from "../../catalog/prompts/make.ts";
import type { Catalog } from "../../core/catalog.ts";
import type { JsonObject } from "../../core/json.ts";
import { didYouMean } from "../../core/nearest.ts";
import type { Secrets } from "../../core/secrets.ts";
import { FileError } from "../../core/world.ts";
import { hostFiles } from "../../host/files/files.ts";
import { hostEnv } from "../../host/process.ts";
import type { ModelList } from "../../models/known_models.ts";
import { isAgentName } from "../../parse/agent/agent.ts";
import { NO_GRANTS, type RunGrants } from "../../project/trust/grants.ts";
import { openProjectModels } from "../../project/models.ts";
import type { ProjectSettings } from "../../project/project.ts";
import type { PromptIndex } from "../../project/prompt_index.ts";
import { checkFiles } from "../check/check.ts";
import { CheckPlaces } from "../check/places.ts";
import { checkPromptText } from "../check/prompts.ts";
import { CheckReport } from "../check/report.ts";
import { CheckTargets, checkTargets } from "../check/targets.ts";
import { UsageError } from "../exit_code.ts";
import { fileInProject, walkFiles } from "../project_files.ts";
import { fieldError, ServiceError } from "../service.ts";
import { agentData, agentsBelow } from "./agents.ts";
import { documentData, documentsBelow } from "./documents.ts";
import { gadgetData, objectOf } from "./gadgets.ts";
import { agentGraph, callsGraph, documentGraph } from "../graph/graph.ts";
import {
  CATALOG_PARTS,
  type CatalogJson,
  type CatalogPart,
  type CheckWanted,
  type GadgetJson,
  type GraphJson,
  type ListedCalls,
  type ListedModel,
  type Look,
  type ProblemJson,
  type PromptPageJson,
  type RenderedPrompt,
} from "./look.ts";
import { promptProblem, toldProblem } from "./problems.ts";
import { profileData } from "./profiles.ts";
import { listedPrompt, listedTactic, promptData, promptTools } from "./prompts.ts";

/** The project as it is now; each may be another one than before, when a file has changed. */
export interface LookMeans {
  /** Real and absolute. */
  readonly root: string;
  settings(): Promise<ProjectSettings>;
  catalog(): Promise<Catalog>;
  prompts(): Promise<PromptIndex>;
  /** Whether what the project says for itself counts. */
  accepted(): Promise<boolean>;
  /** What every run may do. */
  readonly grants: RunGrants;
  /** What must not be shown. */
  readonly secrets: Pick<Secrets, "maskJson">;
}

const OF_PROMPTS = ["prompts", "tactics", "profiles", "problems"] as const satisfies readonly CatalogPart[];

const NO_PROMPTS = { prompts: [], tactics: [], profiles: [], problems: [] };

/** Makes it. */
export function openLook(means: LookMeans): Look {
  return new ProjectLook(means);
}

class ProjectLook implements Look {
  readonly #means: LookMeans;

  constructor(means: LookMeans) {
    this.#means = means;
  }

  async catalog(only: readonly CatalogPart[] = CATALOG_PARTS): Promise<CatalogJson> {
    const { root } = this.#means;
    const wants = (part: CatalogPart): boolean => only.includes(part);
    const [gadgets, prompts, agents, documents, calls, models] = await Promise.all([
      wants("gadgets") ? this.#gadgets() : [],
      OF_PROMPTS.some(wants) ? this.#prompts() : NO_PROMPTS,
      wants("agents") ? agentsBelow(root) : [],
      wants("documents") ? documentsBelow(root) : [],
      wants("calls") ? callsBelow(root) : [],
      wants("models") ? this.#models() : [],
    ]);
    return this.#means.secrets.maskJson({ gadgets, ...prompts, agents, documents, calls, models });
  }

  async gadget(name: string): ReturnType<Look["gadget"]> {
    const { entries } = await this.#means.catalog();
    const entry = entries.find((each) => each.name === name);
    if (entry === undefined) throw notFound("gadget", name, entries.map((each) => each.name));
    return this.#means.secrets.maskJson(await gadgetData(entry));
  }

  async prompt(path: string): ReturnType<Look["prompt"]> {
    return await this.#prompt(path, {});
  }

  async tactic(name: string): ReturnType<Look["tactic"]> {
    const { locatedTactics } = await this.#means.prompts();
    const found = locatedTactics.get(name);
    if (found === undefined) throw notFound("tactic", name, locatedTactics.keys());
    return listedTactic(found);
  }

  async document(path: string): ReturnType<Look["document"]> {
    const file = this.#file(path, { what: "document", ending: /\.md$/i });
    return this.#means.secrets.maskJson(await this.#document(file, path));
  }

  async agent(path: string): ReturnType<Look["agent"]> {
    const file = this.#file(path, { what: "agent" });
    if (!isAgentName(file)) throw notFound("agent", path);
    return this.#means.secrets.maskJson(await there("agent", path, () => agentData(file, this.#means)));
  }

  async profile(name: string): ReturnType<Look["profile"]> {
    const { profiles } = await this.#means.prompts();
    const found = profiles.get(name);
    if (found === undefined) throw notFound("profile", name, profiles.keys());
    return this.#means.secrets.maskJson(profileData(found));
  }

  async source(path: string): Promise<string> {
    const file = this.#file(path, { what: "file", ending: SHOWN });
    const text = await there("file", path, () => hostFiles({ root: this.#means.root }).readText(file));
    return this.#means.secrets.maskJson(text);
  }

  async render(path: string, input: JsonObject): Promise<RenderedPrompt> {
    const { text, missing, tools, contract } = await this.#prompt(path, input);
    if (text !== null) return { text, tools, contract };
    const what = missing.length === 0
      ? "it has no text without its values"
      : `expected values for ${missing.join(", ")}, found none`;
    throw new ServiceError(`input: ${what}`, { code: "invalid", details: { field: "input", missing } });
  }

  async check(wanted: Parameters<Look["check"]>[0]): ReturnType<Look["check"]> {
    try {
      return await checkData(wanted, this.#means);
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      throw fieldError("files", error.message);
    }
  }

  async graph(path: string): Promise<GraphJson> {
    const { root } = this.#means;
    const file = this.#file(path, { what: "file", ending: /\.(md|calls|ya?ml)$/i });
    if (isAgentName(file)) return await there("agent", path, () => agentGraph(file, { root }));
    if (/\.md$/i.test(file)) return await there("document", path, () => documentGraph(file, { root }));
    if (!CALLS.test(file)) throw notFound("call file", path);
    const text = await there("call file", path, () => hostFiles({ root }).readText(file));
    const { config: { calls: { markers } } } = await this.#means.settings();
    return await callsGraph(text, { file, markers });
  }

  async #prompt(path: string, values: JsonObject): Promise<PromptPageJson> {
    const located = await this.#located(path);
    const project = await this.#means.settings();
    const tools = await promptTools(located.prompt, { project, flags: NO_GRANTS.flags });
    try {
      return this.#means.secrets.maskJson(await promptData(located, { tools, values }));
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      throw fieldError("input", `input: ${error.message}`);
    }
  }

  async #located(path: string): Promise<LocatedPrompt> {
    const { located } = await this.#means.prompts();
    const found = located.get(path);
    if (found === undefined) throw notFound("prompt", path, located.keys());
    return found;
  }

  async #gadgets(): Promise<readonly GadgetJson[]> {
    const { entries } = await this.#means.catalog();
    return await Promise.all(entries.map(gadgetData));
  }

  async #prompts(): Promise<Pick<CatalogJson, typeof OF_PROMPTS[number]>> {
    const index = await this.#means.prompts();
    return {
      prompts: [...index.located.values()].map(listedPrompt),
      tactics: [...index.locatedTactics.values()].map(listedTactic),
      profiles: [...index.profiles.values()].map(profileData),
      problems: [
        ...index.problems.map((problem) => promptProblem(problem)),
        ...index.notLoaded.map((problem) => promptProblem(problem, "warning")),
      ],
    };
  }

  async #models(): Promise<readonly ListedModel[]> {
    const project = await this.#means.settings();
    const models = openProjectModels({ ...project, isAccepted: await this.#means.accepted() });
    const list = models.list();
    return modelData(list, hostEnv("ORRERY_MODEL")?.trim() || list.default);
  }

  async #document(file: string, path: string): ReturnType<Look["document"]> {
    const { root, grants } = this.#means;
    const granting = {
      project: await this.#means.settings(),
      accepted: await this.#means.accepted(),
      grants,
    };
    return await there("document", path, () => documentData(file, { root, granting }));
  }

  /** The file of a path, links followed. */
  #file(path: string, { what, ending = /./ }: { readonly what: string; readonly ending?: RegExp }): string {
    const file = fileInProject(path, { root: this.#means.root });
    if (!ending.test(file)) throw notFound(what, path);
    return file;
  }
}

/** What may be shown as text. */
const SHOWN = /\.(md|ctx|calls|ya?ml|prompt|json|jsonl|txt|[cm]?[jt]s)$/i;

const CALLS = /\.calls$/i;

async function callsBelow(root: string): Promise<readonly ListedCalls[]> {
  const paths = await walkFiles(root, {
    files: hostFiles({ root }),
    isWanted: (name) => CALLS.test(name),
  });
  return paths.map((path) => ({ file: projectPath(path, root) }));
}

/** What is read must be there. */
async function there<Data>(what: string, path: string, read: () => Promise<Data>): Promise<Data> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof FileError && (error.code === "not-found" || error.code === "is-folder")) {
      throw notFound(what, path);
    }
    throw error;
  }
}

function notFound(what: string, name: string, known: Iterable<string> = []): ServiceError {
  return new ServiceError(`There is no ${what} ${JSON.stringify(name)}.${didYouMean(name, known)}`, {
    code: "not-found",
  });
}

/** What can be asked, aliases first, and what is missing for the rest. @param chosen the one that is asked when nothing else is said */
function modelData(list: ModelList, chosen: string | undefined): readonly ListedModel[] {
  const { aliases, known, offline } = list;
  const isDefault = (id: string) => id === chosen ? { isDefault: true } : {};
  return [
    ...aliases.map(({ name, id, fallback }): ListedModel => ({
      id: name,
      kind: "alias",
      ...usableData(id, list),
      model: id,
      ...(fallback.length === 0 ? {} : { fallback: [...fallback] }),
      ...isDefault(name),
    })),
    ...known.map(({ id, price, contextTokens }): ListedModel => ({
      id,
      kind: "model",
      ...usableData(id, list),
      price: objectOf(price),
      contextTokens,
      ...isDefault(id),
    })),
    ...chosenAlone(list, chosen),
    ...offline.map(({ id, about }): ListedModel => ({
      id,
      kind: id.endsWith("FILE") ? "form" : "offline",
      usable: !id.endsWith("FILE"),
      about,
      ...isDefault(id),
    })),
  ];
}

/** The chosen one, where it is in no list: a model without a price. */
function chosenAlone(list: ModelList, chosen: string | undefined): readonly ListedModel[] {
  const ids = [
    ...list.aliases.map(({ name }) => name),
    ...list.known.map(({ id }) => id),
    ...list.offline.map(({ id }) => id),
  ];
  if (chosen === undefined || ids.includes(chosen)) return [];
  return [{ id: chosen, kind: "model", ...usableData(chosen, list), isDefault: true }];
}

/** Whether the provider of `provider/model` can be asked, and what is missing. */
function usableData(
  id: string,
  { providers, offline }: ModelList,
): Pick<ListedModel, "usable" | "provider" | "about"> {
  const name = id.slice(0, Math.max(0, id.indexOf("/")));
  if (offline.some((each) => each.id.startsWith(`${name}/`))) return { usable: true, provider: name };
  const provider = providers.find((each) => each.name === name);
  if (provider === undefined) return { usable: false, about: "there is no such provider" };
  const { keyVariables, hasKey } = provider;
  if (hasKey || keyVariables.length === 0) return { usable: true, provider: name };
  return { usable: false, provider: name, about: `no key: set ${keyVariables.join(" or ")}` };
}

/** As on a command line without flags. */
const NO_FLAGS = { values: {}, blocks: [], isGranting: false, isGiving: false };

/** Finds mistakes, running nothing: in files of the project, in all of it, or in a text. @throws {ServiceError} `invalid`, `outside` */
async function checkData(
  wanted: CheckWanted,
  { root }: { readonly root: string },
): Promise<readonly ProblemJson[]> {
  const report = new CheckReport();
  const posted = "text" in wanted ? postedFile(wanted.text, root) : undefined;
  const texts = new Map(posted === undefined ? [] : [[posted.path, posted.text]]);
  await using places = new CheckPlaces({ cwd: root, grants: NO_GRANTS, report, texts });
  const targets = posted === undefined
    ? await namedTargets("files" in wanted ? wanted.files ?? [] : [], { root, places })
    : new CheckTargets();
  if (posted !== undefined) targets[posted.kind].add(posted.path);
  if (posted?.kind === "prompts") await checkPromptText(posted.path, { text: posted.text, report });
  else await checkFiles(targets, { places, report, flags: NO_FLAGS });
  return report.problems().map((problem) => toldProblem(root, problem));
}

async function namedTargets(
  files: readonly string[],
  { root, places }: { readonly root: string; readonly places: CheckPlaces },
): Promise<CheckTargets> {
  const words = files.map((file) => fileInProject(file, { root, field: "files" }));
  return await checkTargets(words.length === 0 ? [root] : words, {
    cwd: root,
    files: hostFiles({ root }),
    places,
  });
}

interface PostedFile {
  /** Absolute: where it would be in the project. */
  readonly path: string;
  readonly text: string;
  readonly kind: "documents" | "calls" | "agents" | "prompts";
}

function postedFile(
  { name, text }: { readonly name: string; readonly text: string },
  root: string,
): PostedFile {
  const path = resolve(root, fileInProject(name, { root, field: "name" }));
  const kind = kindOf(name);
  if (kind !== undefined) return { path, text, kind };
  throw fieldError(
    "name",
    `name: found ${
      JSON.stringify(name)
    }, expected that of a document (.md), a call file (.calls), an agent ` +
      "(.agent.yml, .agent.yaml) or a prompt (.prompt.md, .prompt)",
  );
}

function kindOf(name: string): PostedFile["kind"] | undefined {
  if (/\.prompt(\.md)?$/.test(name)) return "prompts";
  if (/\.md$/i.test(name)) return "documents";
  if (/\.calls$/i.test(name)) return "calls";
  return isAgentName(basename(name)) ? "agents" : undefined;
}
