// `orrery list KIND`: a list as names, as JSON, or as a table with what is wrong below it.
import type { AgentProfile } from "../../catalog/agent_profile.ts";
import { type Catalog, type CatalogEntry, GADGET_NAME, type Problem, typedPath } from "../../core/core.ts";
import { workingFolder } from "../../host/paths.ts";
import { hostEnv } from "../../host/process.ts";
import type { Terminal } from "../../host/terminal/terminal.ts";
import type { ModelList } from "../../models/known_models.ts";
import { openProjectModels } from "../../project/models.ts";
import { isAcceptedHere, openSettings, type ProjectSettings } from "../../project/project.ts";
import type { PromptIndex } from "../../project/prompt_index.ts";
import { DEFAULT_LIMITS } from "../../prompt/limits.ts";
import { toolName } from "../../prompt/tool_list.ts";
import { printable, printableLine } from "../../render/shown_text.ts";
import { shown } from "../../schema/issue.ts";
import { EXIT, UsageError } from "../../service/exit_code.ts";
import { agentsBelow } from "../../service/look/agents.ts";
import { documentsBelow } from "../../service/look/documents.ts";
import { loadedGadget } from "../../service/look/gadgets.ts";
import { profileData } from "../../service/look/profiles.ts";
import { listedPrompt, listedTactic, promptAnswer, promptVariables } from "../../service/look/prompts.ts";
import type { COMMANDS, ParsedCommand } from "../flags/flags.ts";
import { grantWords, permissionWords, sourceWord } from "../gadget_words.ts";
import { promptsHere, withCatalogHere } from "../here.ts";
import { checkOneForm, runs } from "../runs/runs.ts";
import { writeTypes } from "./types.ts";
import { columns, jsonPage, pageOf } from "../page.ts";

type ListCommand = ParsedCommand<typeof COMMANDS.list>;
type ListFlags = ListCommand["flags"];

/** A list in each form that it may have. */
interface Listed {
  /** What can be typed: a script reads one a line. */
  readonly names: readonly string[];
  readonly json: { readonly [key: string]: unknown };
  readonly text: string;
  /** For stderr, below the text. */
  readonly notes: string;
}

/** `orrery list KIND`. */
export async function list({ words, flags }: ListCommand, terminal: Terminal): Promise<number> {
  const [kind] = words;
  checkOneForm(flags, "list");
  if (flags["write-types"].length > 0 && kind !== "prompts") {
    throw new UsageError("--write-types belongs to orrery list prompts", "list");
  }
  const write = (listed: Listed, json?: unknown) => writeList(listed, { flags, terminal, json });
  const cwd = workingFolder();
  switch (kind) {
    case "runs":
      return await runs({ flags: { ...flags, all: true } }, terminal);
    case "conversations":
      return await runs({ flags: { ...flags, all: true }, kind: "conversation" }, terminal);
    case "models":
      return await write(modelList(await modelsHere(await openSettings(cwd, { cwd }))));
    case "documents":
      return await write(await documentList(await openSettings(cwd, { cwd })));
    case "agents":
      return await write(await agentList(await openSettings(cwd, { cwd })));
    case "profiles":
      return await write(profileList((await promptsHere({ flags, terminal })).index));
    case "prompts": {
      const here = await promptsHere({ flags, terminal });
      if (flags["write-types"].length === 0) return await write(promptList(here.index));
      return await writeTypes(here, flags, terminal);
    }
  }
  // Names are for a shell that completes a word: no server is started for that.
  return await withCatalogHere({ flags, terminal, servers: !flags.names }, async (catalog) => {
    const gadgets = await gadgetList(catalog, flags);
    return kind === undefined
      ? await write(await everything(gadgets, flags, terminal))
      : await write(gadgets, gadgets.json.gadgets);
  });
}

async function writeList(
  { names, json, text, notes }: Listed,
  { flags, terminal, json: own = json }: {
    readonly flags: ListFlags;
    readonly terminal: Terminal;
    readonly json: unknown;
  },
): Promise<number> {
  if (flags.names) await terminal.stdout.write(names.map((name) => `${name}\n`).join(""));
  else if (flags.json) await terminal.stdout.write(jsonPage(own));
  else {
    await terminal.stdout.write(text);
    await terminal.stderr.write(notes);
  }
  return EXIT.ok;
}

/** Without a kind: gadgets, and the prompts, tactics and profiles of a project that has some. */
async function everything(gadgets: Listed, flags: ListFlags, terminal: Terminal): Promise<Listed> {
  const { index } = await promptsHere({ flags, terminal, tellsNotices: false }); // the catalogue has told them
  const [prompts, profiles] = [promptList(index), profileList(index)];
  const { problems } = index;
  return {
    names: [gadgets, prompts, profiles].flatMap(({ names }) => names),
    json: { ...gadgets.json, ...prompts.json, ...profiles.json, problems },
    text: [gadgets, prompts, profiles].map(({ text }) => text).filter((text) => text !== "").join("\n"),
    notes: gadgets.notes + problemLines(problems, index) + notLoadedLine(index),
  };
}

async function gadgetList(catalog: Catalog, flags: ListFlags): Promise<Listed> {
  const rows = flags.names ? [] : await Promise.all(catalog.entries.map(describe));
  const all = [["NAME", "SOURCE", "STATE", "NEEDS", "GRANT"], ...rows.map(({ cells }) => cells)];
  // Only gadgets of modules have one, and those that settings name.
  const cells = rows.some(({ hasGrant }) => hasGrant) ? all : all.map((row) => row.slice(0, -1));
  return {
    // A file of the project can have any name: only what can be called is told, so that no script reads more than a name.
    names: catalog.entries.map(({ name }) => name).filter((name) => GADGET_NAME.test(name)),
    json: { gadgets: rows.map(({ json }) => json) },
    text: `${columns(cells)}\n`,
    notes: problemText(rows),
  };
}

interface ListRow {
  readonly cells: readonly string[];
  /** Somebody has the say over it. */
  readonly hasGrant: boolean;
  readonly json: unknown;
  readonly state: CatalogEntry["state"];
  readonly problem: string | undefined;
}

async function describe(entry: CatalogEntry): Promise<ListRow> {
  const { gadget, problem, state } = await loadedGadget(entry);
  const permissions = gadget?.permissions ?? {};
  const needs = gadget === undefined ? "?" : permissionWords(permissions);
  const grant = entry.grant?.();
  return {
    state,
    problem,
    hasGrant: grant !== undefined,
    cells: [
      entry.name,
      sourceWord(entry.source),
      state,
      needs,
      grant === undefined ? "" : grantWords(grant, permissions),
    ],
    json: {
      name: entry.name,
      source: entry.source,
      state,
      problem,
      ...(gadget === undefined ? {} : { description: gadget.description ?? "", permissions }),
      grant,
    },
  };
}

/** What is broken, one by one; what is only not trusted is meant to be so, and told once. */
function problemText(rows: readonly ListRow[]): string {
  const broken = rows.filter(({ state }) => state === "broken").map(({ problem = "" }) =>
    `${printableLine(problem)}\n`
  );
  const untrusted = rows.filter(({ state }) => state === "not-trusted").length;
  const told = untrusted === 0
    ? ""
    : `${untrusted} not trusted, so not started; to start one, add --trust NAME, and for good: orrery trust allow NAME\n`;
  return broken.join("") + told;
}

async function agentList(project: ProjectSettings): Promise<Listed> {
  const typed = (file: string): string => typedPath(file, project);
  const agents = await agentsBelow(project.root);
  const problems = agents.flatMap(({ file, problem }) =>
    problem === undefined ? [] : [`${typed(file)}${problem.slice(file.length)}\n`]
  );
  return {
    names: agents.map(({ file }) => typed(file)).filter(isTypable),
    json: { agents },
    text: tableText(
      ["AGENT", "FILE", "STEPS"],
      agents.map(({ id = "?", file, steps = "?" }) => [id, typed(file), String(steps)]),
    ),
    notes: agents.length === 0
      ? "The project has no agents: they are files that end with .agent.yml or .agent.yaml\n"
      : printable(problems.join("")),
  };
}

async function documentList(project: ProjectSettings): Promise<Listed> {
  const documents = await documentsBelow(project.root);
  return {
    names: documents.map(({ file }) => typedPath(file, project)).filter(isTypable),
    json: {
      documents: documents.map(({ file, title, description, inputs, operations }) => ({
        file,
        title,
        description,
        inputs,
        operations,
      })),
    },
    text: tableText(
      ["FILE", "TITLE", "INPUTS", "OPERATIONS"],
      documents.map(({ file, title, inputs, operations }) => [
        typedPath(file, project),
        title ?? "",
        listWords(inputs.map(({ name, default: fallback }) => fallback === null ? name : `[${name}]`)),
        String(operations),
      ]),
    ),
    notes: documents.length > 0
      ? ""
      : "The project has no documents: they are Markdown files (.md) with an operation such as @llm or @shell between their headings\n",
  };
}

/** What can be asked, and what is missing for it; contacts nobody. */
async function modelsHere(project: ProjectSettings): Promise<ModelList> {
  return openProjectModels({ ...project, isAccepted: await isAcceptedHere(project) }).list();
}

function modelList(models: ModelList): Listed {
  const variable = hostEnv("ORRERY_MODEL")?.trim();
  const chosen = variable || models.default;
  return {
    names: modelNames(models),
    json: { ...models, chosen: chosen ?? null },
    text: modelPage(models, { chosen, from: variable ? "ORRERY_MODEL" : "models.default" }),
    notes: "",
  };
}

/** What can be typed behind `--model`; an id may hold anything, and a script reads a word a line. */
function modelNames({ aliases, known, providers, offline }: ModelList): readonly string[] {
  const usable = new Set(
    providers.filter(({ keyVariables, hasKey }) => hasKey || keyVariables.length === 0).map(({ name }) =>
      name
    ),
  );
  const ids = known.map(({ id }) => id).filter((id) => usable.has(id.slice(0, id.indexOf("/"))));
  const fixed = offline.map(({ id }) => id).filter((id) => !id.endsWith("FILE"));
  return [...aliases.map(({ name }) => name), ...ids, ...fixed].filter((name) => /^[\w./:@+-]+$/.test(name));
}

function modelPage(
  list: ModelList,
  { chosen, from }: { readonly chosen: string | undefined; readonly from: string },
): string {
  const sections = [
    chosen === undefined
      ? "Default: none; set models.default in orrery.yaml, or ORRERY_MODEL"
      : printableLine(`Default: ${chosen} (${from})`),
    section("Aliases", [
      ["ALIAS", "MODEL", "FALLBACK"],
      ...list.aliases.map(({ name, id, fallback }) => [name, id, fallback.join(", ")]),
    ]),
    section("Providers", [
      ["PROVIDER", "TYPE", "KEY", "ADDRESS"],
      ...list.providers.map((provider) => [
        provider.name,
        provider.type,
        keyWord(provider),
        provider.baseURL,
      ]),
    ]),
    section("Without a provider", [["MODEL", ""], ...list.offline.map(({ id, about }) => [id, about])]),
  ];
  return pageOf(sections);
}

function keyWord({ keyVariables, hasKey }: ModelList["providers"][number]): string {
  if (hasKey) return "set";
  return keyVariables.length === 0 ? "none needed" : `missing: ${keyVariables.join(" or ")}`;
}

function section(title: string, rows: readonly (readonly string[])[]): string {
  if (rows.length < 2) return "";
  return `${title}\n${columns(rows)}`;
}

function profileList(index: PromptIndex): Listed {
  const profiles = [...index.profiles.values()];
  const { profiles: problems } = index.problemsOf;
  return {
    names: [...index.profiles.keys()].filter(isTypable),
    json: { profiles: profiles.map(profileData), problems: problems.map(problemData) },
    text: tableText(
      ["PROFILE", "MODEL", "SYSTEM", "LIMITS"],
      profiles.map(({ name, model, systemPrompt, system, limits }) => [
        name,
        model,
        systemPrompt ?? shown(system),
        changedLimits(limits),
      ]),
    ),
    notes: profiles.length + problems.length > 0
      ? problemLines(problems, index)
      : "The project has no profiles: they are the entries of agents: in orrery.yaml, each with name, model, and systemPrompt or system\n",
  };
}

function problemData({ file, line, message }: Problem): Problem {
  return { file, line, message };
}

function changedLimits(limits: AgentProfile["limits"]): string {
  const defaults = new Map<string, unknown>(Object.entries(DEFAULT_LIMITS));
  const changed = Object.entries(limits).filter(([name, value]) => value !== defaults.get(name));
  return changed.length === 0 ? "default" : changed.map((limit) => limit.join(" ")).join(", ");
}

/** What `orrery run` finds by a path or a name, and what is wrong with the rest. */
function promptList(index: PromptIndex): Listed {
  const { registry, located, tactics, locatedTactics, problemsOf, notLoaded } = index;
  const problems = [...problemsOf.prompts, ...problemsOf.tactics];
  const isNothing = located.size + locatedTactics.size + problems.length + notLoaded.length === 0;
  return {
    names: [...registry.keys(), ...tactics.keys()].filter(isTypable),
    json: {
      prompts: [...located.values()].map(listedPrompt).map(({ input: _input, ...prompt }) => prompt),
      tactics: [...locatedTactics.values()].map(listedTactic),
      notLoaded: filesOf(notLoaded),
      problems: problems.map(problemData),
    },
    text: promptTables(index),
    notes: isNothing
      ? "The project has no prompts: they are *.prompt.md, *.prompt and *.ts files in prompts/, or in the folders that " +
        "prompts.folders of orrery.yaml names\n"
      : problemLines(problems, index) + notLoadedLine(index),
  };
}

/** Whether a shell takes a name as one plain word: it may hold anything, and a script types it as it is. */
function isTypable(name: string): boolean {
  return /^(?!-)[\p{L}\p{M}\p{N}_./@+-]+$/u.test(name);
}

/** Empty where there is nothing. */
function promptTables(index: PromptIndex): string {
  const { located, locatedTactics, modules, notLoaded } = index;
  const missing = new Set(filesOf(notLoaded));
  const prompts = [
    ...[...located.values()].map((each) => [
      each.prompt.path,
      promptAnswer(each.prompt).kind.replace("json", "JSON"),
      listWords(each.prompt.tools.map(toolName)),
      listWords(promptVariables(each).names),
      each.claim.source.file,
    ]),
    ...modules.prompts.filter(({ file }) => missing.has(file)).map((
      { namespace, stem, file },
    ) => [[namespace, stem, "…"].filter((part) => part !== "").join("/"), "not loaded", "?", "?", file]),
  ];
  const tactics = [
    ...[...locatedTactics.values()].map(({ tactic, file }) => [tactic.name, listWords(tactic.agents), file]),
    ...modules.tactics.filter(({ file }) => missing.has(file)).map(({ file }) => ["…", "not loaded", file]),
  ];
  return [
    tableText(["PATH", "ANSWER", "TOOLS", "VARIABLES", "FILE"], prompts),
    tableText(["TACTIC", "AGENTS", "FILE"], tactics),
  ].filter((text) => text !== "").join("\n");
}

/** A table with its head; empty without rows. */
function tableText(head: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return "";
  return `${columns([head, ...rows])}\n`;
}

function listWords(words: readonly string[]): string {
  return words.length === 0 ? "-" : words.join(", ");
}

/** `file:line: message`, a line each, with the files as they are typed in the working folder. */
export function problemLines(problems: readonly Problem[], { root }: Pick<PromptIndex, "root">): string {
  const cwd = workingFolder();
  return problems.map(({ file, line, message }) =>
    `${printableLine(`${typedPath(file, { root, cwd })}:${line}: ${message}`)}\n`
  ).join("");
}

/** How many modules were not loaded, and what loads them; empty when none was left out. */
export function notLoadedLine({ notLoaded }: Pick<PromptIndex, "notLoaded">): string {
  const { length } = filesOf(notLoaded);
  if (length === 0) return "";
  const [modules, them] = length === 1 ? ["1 module is", "it"] : [`${length} modules are`, "them"];
  return `${modules} not loaded: code of the project; --trust-code loads ${them}\n`;
}

function filesOf(problems: readonly Problem[]): readonly string[] {
  return [...new Set(problems.map(({ file }) => file))];
}
