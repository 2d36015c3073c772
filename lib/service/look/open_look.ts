// What is in the project, looked at when it is asked for: files as they are by then, gadgets and prompts as the project holds them.
import type { CallGraph } from "../../render/graph/graph.ts";
import { readDocumentText } from "../../run/document/files.ts";
import type { Kind } from "../kinds/kind.ts";
import { eitherOf, kindOfFile } from "../kinds/kinds.ts";
import { resolve } from "node:path";
import {
  didYouMean,
  FileError,
  type JsonObject,
  projectPath,
  SourceError,
  toJsonObject,
} from "../../core/core.ts";
import { hostFiles } from "../../host/files/files.ts";
import { wantedModel } from "../../host/process.ts";
import type { ModelList } from "../../models/known_models.ts";
import { NO_GRANTS } from "../../project/trust/grants.ts";
import type { ProjectHold } from "../project_hold.ts";
import { checkFiles } from "../check/check.ts";
import { CheckPlaces } from "../check/places.ts";
import { CheckReport, problemJson, toldProblem } from "../check/report.ts";
import { CheckTargets, checkTargets } from "../check/targets.ts";
import { UsageError } from "../exit_code.ts";
import { fileInProject, walkFiles } from "../project_files.ts";
import { fieldError, ServiceError } from "../service.ts";
import { calls } from "../kinds/calls/calls.ts";
import { conversation } from "../kinds/conversation/conversation.ts";
import { agentData, agentsBelow } from "../kinds/conversation/look.ts";
import { documentData, documentsBelow } from "../kinds/document/look.ts";
import { gadgetData } from "./gadgets.ts";
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
} from "./look.ts";
import { profileData } from "./profiles.ts";
import { listedPrompt, listedTactic, promptData, promptTools } from "../kinds/prompt/look.ts";

const OF_PROMPTS = ["prompts", "tactics", "profiles", "problems"] as const satisfies readonly CatalogPart[];

const NO_PROMPTS = { prompts: [], tactics: [], profiles: [], problems: [] };

/** Looks at a project as it is now: it may be another one than before, when a file has changed. */
export function openLook(hold: ProjectHold, kinds: readonly Kind[]): Look {
  const { root, secrets } = hold;
  const app = async () => (await hold.current()).app;
  const prompts = async () => await (await app()).prompts();
  const masked = <Data>(data: Data): Data => secrets.maskJson(data);

  /** The file of a path, links followed. */
  const fileOf = (path: string, what: string, ending = /./): string => {
    const file = fileInProject(path, { root });
    if (!ending.test(file)) throw notFound(what, path);
    return file;
  };

  const promptPage = async (path: string, values: JsonObject): Promise<PromptPageJson> => {
    const located = known("prompt", path, (await prompts()).located);
    const tools = await promptTools(located.prompt, {
      project: (await app()).project,
      flags: NO_GRANTS.flags,
    });
    try {
      return masked(await promptData(located, { tools, values }));
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      throw fieldError("input", `input: ${error.message}`);
    }
  };

  const gadgetList = async (): Promise<readonly GadgetJson[]> => {
    const { catalog: { entries } } = await hold.current();
    return await Promise.all(entries.map(gadgetData));
  };

  const ofPrompts = async (): Promise<Pick<CatalogJson, typeof OF_PROMPTS[number]>> => {
    const index = await prompts();
    return {
      prompts: [...index.located.values()].map(listedPrompt),
      tactics: [...index.locatedTactics.values()].map(listedTactic),
      profiles: [...index.profiles.values()].map(profileData),
      problems: [
        ...index.problems.map((problem) => problemJson("prompt", problem.file, problem)),
        ...index.notLoaded.map((each) => problemJson("prompt", each.file, { ...each, severity: "warning" })),
      ],
    };
  };

  const modelList = async (): Promise<readonly ListedModel[]> => {
    const { app, accepted } = await hold.current();
    const list = await app.models(accepted);
    return modelData(list, wantedModel() ?? list.default);
  };

  return {
    async catalog(only = CATALOG_PARTS) {
      const wants = (part: CatalogPart): boolean => only.includes(part);
      const [gadgets, prompts, agents, documents, calls, models] = await Promise.all([
        wants("gadgets") ? gadgetList() : [],
        OF_PROMPTS.some(wants) ? ofPrompts() : NO_PROMPTS,
        wants("agents") ? agentsBelow(root) : [],
        wants("documents") ? documentsBelow(root) : [],
        wants("calls") ? callsBelow(root) : [],
        wants("models") ? modelList() : [],
      ]);
      return masked({ gadgets, ...prompts, agents, documents, calls, models });
    },
    async gadget(name) {
      const { catalog: { entries } } = await hold.current();
      return masked(
        await gadgetData(known("gadget", name, new Map(entries.map((each) => [each.name, each])))),
      );
    },
    prompt: (path) => promptPage(path, {}),
    tactic: async (name) => listedTactic(known("tactic", name, (await prompts()).locatedTactics)),
    async document(path) {
      const file = fileOf(path, "document", /\.md$/i);
      const { app: { project, grants }, accepted } = await hold.current();
      const granting = { project, accepted, grants };
      return masked(await there("document", path, () => documentData(file, { root, granting })));
    },
    async agent(path) {
      const file = fileOf(path, "agent");
      if (!conversation.file.is(file)) throw notFound("agent", path);
      return masked(await there("agent", path, () => agentData(file, { root })));
    },
    profile: async (name) => masked(profileData(known("profile", name, (await prompts()).profiles))),
    async source(path) {
      const file = fileOf(path, "file", SHOWN);
      return masked(await there("file", path, () => hostFiles({ root }).readText(file)));
    },
    async render(path, input) {
      const { text, missing, tools, contract } = await promptPage(path, input);
      if (text !== null) return { text, tools, contract };
      const what = missing.length === 0
        ? "it has no text without its values"
        : `expected values for ${missing.join(", ")}, found none`;
      throw new ServiceError(`input: ${what}`, { code: "invalid", details: { field: "input", missing } });
    },
    async check(wanted) {
      try {
        return await checkData(wanted, { root, kinds });
      } catch (error) {
        if (!(error instanceof UsageError)) throw error;
        throw fieldError("files", error.message);
      }
    },
    async graph(path) {
      const named = fileOf(path, "file");
      const kind = kindOfFile(named, kinds);
      const graphs = await kind?.graph?.();
      if (kind === undefined || graphs === undefined) throw notFound("file", path);
      const text = await there(
        kind.file?.word ?? "file",
        path,
        () => readDocumentText(hostFiles({ root }), named),
      );
      const file = { file: named, path: resolve(root, named), text, project: (await app()).project };
      const { graph, problems } = await graphs.graph(file);
      return {
        ...await drawn(graph),
        problems: problems.map((problem) => problemJson(kind.name, named, problem)),
      };
    },
  };
}

/** The picture in both forms. */
async function drawn(graph: CallGraph): Promise<Omit<GraphJson, "problems">> {
  const { graphMermaid } = await import("../../render/graph/mermaid.ts");
  const { graphSvg } = await import("../../render/graph/picture.ts");
  const mermaid = graphMermaid(graph);
  try {
    return { mermaid, svg: await graphSvg(graph) };
  } catch (error) {
    if (!(error instanceof SourceError)) throw error;
    return { mermaid, svg: "" }; // too large to be drawn
  }
}

/** What may be shown as text. */
const SHOWN = /\.(md|ctx|calls|ya?ml|prompt|json|jsonl|txt|[cm]?[jt]s)$/i;

async function callsBelow(root: string): Promise<readonly ListedCalls[]> {
  const paths = await walkFiles(root, {
    files: hostFiles({ root }),
    isWanted: calls.file.is,
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

/** The one of that name. @throws {ServiceError} `not-found` */
function known<Found>(what: string, name: string, all: ReadonlyMap<string, Found>): Found {
  const found = all.get(name);
  if (found === undefined) throw notFound(what, name, all.keys());
  return found;
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
      price: toJsonObject(price),
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

/** The project, by its root, and what its files may be. */
interface CheckedHere {
  readonly root: string;
  readonly kinds: readonly Kind[];
}

/** As on a command line without flags. */
const NO_FLAGS = { values: {}, blocks: [], isGiving: false };

/** Finds mistakes, running nothing: in files of the project, in all of it, or in a text. @throws {ServiceError} `invalid`, `outside` */
async function checkData(
  wanted: CheckWanted,
  { root, kinds }: CheckedHere,
): Promise<readonly ProblemJson[]> {
  const report = new CheckReport();
  const posted = "text" in wanted ? wanted.text : undefined;
  const path = posted && postedPath(posted.name, { root, kinds });
  const texts = new Map(posted && path ? [[path, posted.text]] : []);
  await using places = new CheckPlaces({ cwd: root, grants: NO_GRANTS, report, texts });
  const targets = path === undefined
    ? await namedTargets("files" in wanted ? wanted.files ?? [] : [], { root, places, kinds })
    : new CheckTargets();
  const kind = path && kindOfFile(path, kinds);
  if (path && kind) targets.of(kind).named.add(path);
  await checkFiles(targets, { kinds, places, report, flags: NO_FLAGS });
  return report.problems().map((problem) => toldProblem(root, problem));
}

async function namedTargets(
  files: readonly string[],
  { root, places, kinds }: CheckedHere & { readonly places: CheckPlaces },
): Promise<CheckTargets> {
  const words = files.map((file) => fileInProject(file, { root, field: "files" }));
  return await checkTargets(words.length === 0 ? [root] : words, {
    cwd: root,
    files: hostFiles({ root }),
    places,
    kinds,
  });
}

/** Where the text would be in the project: absolute. @throws {ServiceError} `invalid`, `outside` */
function postedPath(name: string, { root, kinds }: CheckedHere): string {
  const path = resolve(root, fileInProject(name, { root, field: "name" }));
  if (kindOfFile(name, kinds) !== undefined) return path;
  throw fieldError("name", `name: found ${JSON.stringify(name)}, expected that of ${eitherOf(kinds)}`);
}
