import { COMMAND_NAMES } from "../catalog/config.ts";
import { foldName } from "../catalog/catalog_of.ts";
import { isInside } from "../catalog/project_path.ts";
import { readConfig } from "../catalog/read_config.ts";
import type { WrittenConfig } from "../catalog/read_config.ts";
import { maybeText } from "../core/maybe_text.ts";
import { didYouMean } from "../core/nearest.ts";
import { basename, join, resolve } from "node:path";
import { hostFiles } from "../host/files.ts";
import { configuredServers } from "../project/configured_servers.ts";
import { modelProblem } from "../project/document_models.ts";
import { checkCollection } from "./check_collection.ts";
import type { CheckPlace, CheckPlaces } from "./check_places.ts";
import type { CheckReport } from "./check_report.ts";

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
export async function checkSettings(
  folder: string,
  { places, report }: { readonly places: CheckPlaces; readonly report: CheckReport },
): Promise<void> {
  const place = await places.of(folder);
  if (place === undefined) return;
  const { project } = place;
  for (const server of await configuredServers(project)) {
    if (!("problem" in server)) continue;
    const path = resolve(project.cwd, server.file);
    const { line, column } = server.span ?? START;
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
    report.add({ kind: "settings", path, severity: "error", ...(written.at(at, what) ?? START), ...say });
  }
  const { collection } = project.config.conversations;
  if (written.values.conversations?.collection !== undefined && collection !== undefined) {
    const missing = await checkCollection(collection, { place, report });
    if (missing === undefined) return;
    const at = written.at(["conversations", "collection"]) ?? START;
    report.add({ kind: "settings", path, severity: "error", ...at, message: missing });
  }
}

const START = { line: 1, column: 1 };

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
