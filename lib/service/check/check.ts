import { basename, dirname, join, resolve } from "node:path";
import { foldName } from "../../catalog/catalog.ts";
import { COMMAND_NAMES } from "../../catalog/config/config.ts";
import { readConfig, type WrittenConfig } from "../../catalog/config/read.ts";
import {
  didYouMean,
  FileError,
  isInside,
  maybeText,
  messageOf,
  PermissionRefused,
  ProblemsError,
} from "../../core/core.ts";
import { hostFiles } from "../../host/files/files.ts";
import { configuredServers } from "../../project/configured_servers.ts";
import { modelProblem } from "../../project/models.ts";
import { collectionSources } from "../../project/project_collection.ts";
import { fileProblem } from "../../retrieval/index_documents.ts";
import type { CheckPlace, CheckPlaces } from "./places.ts";
import type { CheckReport } from "./report.ts";
import type { CheckOptions, CheckTargets } from "./targets.ts";
import type { CheckedFile, Kind } from "../kinds/kind.ts";

/** Looks at files of all kinds. */
export async function checkFiles(
  targets: CheckTargets,
  { kinds, ...options }: CheckOptions & { readonly kinds: readonly Kind[] },
): Promise<void> {
  const { places, report } = options;
  const ofProject = kinds.filter(({ file }) => file?.isOfProject);
  const check = async (kind: Kind): Promise<void> => {
    const files = targets.of(kind);
    for (const path of files.named) files.found.delete(path);
    const checks = await kind.check?.();
    if (checks === undefined) return;
    if ("check" in checks) return await checks.check(files, options);
    for (const path of [...files.named, ...files.found]) {
      const text = await places.read(path, kind.name);
      const tell: CheckedFile["tell"] = (problem) => report.add({ kind: kind.name, path, ...problem });
      if (text !== undefined) await checks.checkFile({ path, text, tell }, options);
    }
  };
  for (const kind of kinds) if (!ofProject.includes(kind)) await check(kind);
  for (const path of targets.collections) {
    const place = await places.of(dirname(path));
    const message = place && await checkCollection(path, { place, report });
    if (message !== undefined) {
      report.add({ kind: "collection", path, message });
    }
  }
  const roots = [...targets.folders].filter((folder) => places.rootOf(folder) === folder);
  for (const root of new Set([...[...targets.settings].map(dirname), ...roots])) {
    await checkSettings(root, { places, report });
  }
  for (const kind of ofProject) await check(kind);
}

type Path = readonly (string | number)[];

/** Something that the settings name and that is not there. */
interface Lack {
  readonly path: Path;
  readonly what?: "key";
  readonly message: string;
  readonly severity?: "warning";
}

/**
 * Tells what the settings of a project name and what is not there: models, scripts, the collection, gadgets of grants; and which servers cannot
 * be started as they are written. How they are written is looked at where the project is opened.
 *
 * @param folder the root of the project
 */
async function checkSettings(
  folder: string,
  { places, report }: { readonly places: CheckPlaces; readonly report: CheckReport },
): Promise<void> {
  const place = await places.of(folder);
  if (place === undefined) return;
  const { project } = place;
  for (const server of await configuredServers(project)) {
    if (!("problem" in server)) continue;
    const path = resolve(project.cwd, server.file);
    const { line, column } = server.span ?? {};
    const severity = server.isOpen ? "warning" : "error";
    if (isInside(path, folder)) {
      report.add({ kind: "settings", path, line, column, severity, message: server.wrong });
    }
  }
  const path = join(folder, "orrery.yaml");
  const text = await maybeText(hostFiles({ root: folder }), path);
  if (text === undefined) return;
  report.file(path, text);
  await report.cutValues(text, { path, kind: "settings" });
  const written = await readConfig(text, path);
  for (
    const { path: at, what, ...say } of [...await modelLacks(written, place), ...grantLacks(written, place)]
  ) {
    report.add({ kind: "settings", path, ...written.at(at, what), ...say });
  }
  const { collection } = project.config.conversations;
  if (written.values.conversations?.collection !== undefined && collection !== undefined) {
    const missing = await checkCollection(collection, { place, report });
    if (missing === undefined) return;
    const at = written.at(["conversations", "collection"]);
    report.add({ kind: "settings", path, ...at, message: missing });
  }
}

/** Names that cannot be asked. An alias of another one is told with that one. */
async function modelLacks(
  { values: { models = {}, conversations = {} } }: WrittenConfig,
  { project, accepted, meets }: CheckPlace,
): Promise<readonly Lack[]> {
  const { aliases = {}, fallback = {} } = models;
  const named: (readonly [Path, string | undefined])[] = [
    [["models", "default"], models.default],
    ...Object.entries(aliases).map(([name, model]) => [["models", "aliases", name], model] as const),
    ...Object.entries(fallback).flatMap(([name, list]) =>
      list.map((model, index) => [["models", "fallback", name, index], model] as const)
    ),
    [["conversations", "embeddings"], conversations.embeddings],
  ];
  const lacks: Lack[] = [];
  for (const [path, name] of named) {
    if (name === undefined || Object.hasOwn(aliases, name)) continue;
    const message = modelProblem(name, { ...project, accepted });
    if (message !== undefined) lacks.push({ path, message });
    // What is wrong in a script is told at its place.
    else if (name.startsWith("script/")) await meets.means.models.find(name, NOBODY_ASKED);
  }
  return lacks;
}

const NOBODY_ASKED = { step: "", kind: "llm", prompts: [], memory: [] } as const;

/** Gadgets that nothing here is called like. */
function grantLacks(
  { values: { grants = {}, gadgets: { isolation = {} } = {} } }: WrittenConfig,
  { catalog: { entries }, project, isServerTool }: CheckPlace,
): readonly Lack[] {
  const known = entries.flatMap(({ name, source }) => {
    const file = "file" in source ? source.file : "";
    return [name, file, basename(file), basename(file).replace(/\.[^.]*$/, "")];
  });
  const names = new Set([...known, ...COMMAND_NAMES].map(foldName));
  const servers = Object.keys({ ...project.config.mcpServers, ...project.config.project.mcpServers });
  const lacksOf = (key: Path, named: object): readonly Lack[] =>
    Object.keys(named).filter((name) =>
      !names.has(foldName(name.replace(/^\.\//, ""))) && !servers.includes(name) && !isServerTool(name)
    ).map((name) => ({
      path: [...key, name],
      what: "key",
      severity: "warning",
      message: `no gadget is called ${JSON.stringify(name)}.${
        didYouMean(name, entries.map((entry) => entry.name))
      }`,
    }));
  return [...lacksOf(["grants"], grants), ...lacksOf(["gadgets", "isolation"], isolation)];
}

/**
 * Tells what is wrong with a collection or a module, and which of its documents cannot be read; what is in them only a run looks at. Gives why
 * the file itself cannot be read.
 *
 * @param path absolute
 */
async function checkCollection(
  path: string,
  { place: { project: { root, config }, world: { files } }, report }: {
    readonly place: Pick<CheckPlace, "project" | "world">;
    readonly report: CheckReport;
  },
): Promise<string | undefined> {
  const look = async (): Promise<void> => {
    const { collection } = config.conversations;
    const sources = await collectionSources(path, { root, files, collection });
    const found = await Promise.all(sources.map(async (document) => {
      try {
        await files.stat(document.path);
        return [];
      } catch (error) {
        if (!(error instanceof FileError)) throw error;
        return [fileProblem(document, error)];
      }
    }));
    const problems = found.flat();
    if (problems.length > 0) throw new ProblemsError(problems);
  };
  try {
    await report.unlessProblems(look(), [root], "collection");
    const text = await files.readText(path);
    report.file(path, text);
    await report.cutValues(text, { path, kind: "collection" });
    return undefined;
  } catch (error) {
    if (error instanceof FileError || error instanceof PermissionRefused) return messageOf(error);
    throw error;
  }
}
