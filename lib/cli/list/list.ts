// `orrery list KIND`: a list as names, as JSON, or as a table with what is wrong below it.
import type { Kind, KindLists } from "../../service/kinds/kind.ts";
import type { AgentProfile } from "../../catalog/agent_profile.ts";
import { type Catalog, type CatalogEntry, GADGET_NAME, type Problem, typedPath } from "../../core/core.ts";
import { workingFolder } from "../../host/paths.ts";
import { wantedModel } from "../../host/process.ts";
import type { Terminal } from "../../host/terminal/terminal.ts";
import { openApp } from "../../service/app.ts";
import type { PromptIndex } from "../../project/prompt_index.ts";
import { DEFAULT_LIMITS } from "../../prompt/limits.ts";
import { toolName } from "../../prompt/tool_list.ts";
import { printableLine } from "../../render/shown_text.ts";
import { shown } from "../../schema/issue.ts";
import { UsageError } from "../../service/exit_code.ts";
import { loadedGadget } from "../../service/look/gadgets.ts";
import { profileData } from "../../service/look/profiles.ts";
import {
  listedPrompt,
  listedTactic,
  promptAnswer,
  promptVariables,
} from "../../service/kinds/prompt/look.ts";
import type { COMMANDS, ParsedCommand } from "../flags/flags.ts";
import { grantWords, permissionWords, sourceWord } from "../gadget_words.ts";
import { promptsHere, withCatalogHere } from "../here.ts";
import { checkOneForm, runList } from "../runs/runs.ts";
import { writeTypes } from "./types.ts";
import { tell, type Told } from "../page.ts";
import { columns, pageOf, tableText } from "../../render/page_text.ts";

type ListCommand = ParsedCommand<typeof COMMANDS.list>;

/** `orrery list KIND`. */
export async function list(
  { words: [kind], flags }: ListCommand,
  terminal: Terminal,
  kinds: readonly Kind[],
): Promise<number> {
  checkOneForm(flags, "list");
  const types = flags["write-types"];
  if (types.length > 0) {
    if (kind === "prompts") return await writeTypes(await promptsHere({ flags, terminal }), flags, terminal);
    throw new UsageError("--write-types belongs to orrery list prompts", "list");
  }
  const listed = await listOf(kind, { flags, terminal, kinds });
  return typeof listed === "number" ? listed : await tell(listed, flags, terminal);
}

/** A list, or the exit code of a command that was ended. */
async function listOf(
  kind: string | undefined,
  { flags, terminal, kinds }: {
    readonly flags: ListCommand["flags"];
    readonly terminal: Terminal;
    readonly kinds: readonly Kind[];
  },
): Promise<Told | number> {
  const lists = await kinds.find(({ file, list }) => list !== undefined && `${file?.word}s` === kind)
    ?.list?.();
  if (lists !== undefined && kind !== undefined) return await fileList(lists, kind);
  const prompts = async (tellsNotices = true) => (await promptsHere({ flags, terminal, tellsNotices })).index;
  switch (kind) {
    case "runs":
      return await runList({ ...flags, all: true });
    case "conversations":
      return await runList({ ...flags, all: true }, "conversation");
    case "models":
      return await modelList();
    case "profiles":
      return profileList(await prompts());
    case "prompts":
      return promptList(await prompts());
  }
  // Names are for a shell that completes a word: no server is started for that.
  return await withCatalogHere({ flags, terminal, servers: !flags.names }, async (catalog) => {
    const { json, ...gadgets } = await gadgetList(catalog, flags.names);
    return kind === undefined
      ? everything({ json: { gadgets: json }, ...gadgets }, await prompts(false)) // the catalogue has told the notices
      : { json, ...gadgets };
  });
}

/** A list with names, whose JSON is a part of that of everything. */
interface Listed extends Told {
  readonly names: readonly string[];
  readonly json: { readonly [key: string]: unknown };
}

/** Without a kind: gadgets, and the prompts, tactics and profiles of a project that has some. */
function everything(gadgets: Listed, index: PromptIndex): Told {
  const { problems } = index;
  const lists = [gadgets, promptList(index), profileList(index)];
  return {
    names: lists.flatMap(({ names }) => names),
    json: { ...Object.assign({}, ...lists.map(({ json }) => json)), problems },
    text: lists.map(({ text }) => text).filter((text) => text !== "").join("\n"),
    notes: gadgets.notes + problemLines(problems, index) + notLoadedLine(index),
  };
}

async function gadgetList({ entries }: Catalog, onlyNames: boolean) {
  const rows = onlyNames ? [] : await Promise.all(entries.map(describe));
  // Only gadgets of modules have a grant, and those that settings name.
  const width = rows.some(({ json }) => json.grant !== undefined) ? 5 : 4;
  const all = [["NAME", "SOURCE", "STATE", "NEEDS", "GRANT"], ...rows.map(({ cells }) => cells)];
  return {
    // A file of the project can have any name: only what can be called is told, so that no script reads more than a name.
    names: entries.map(({ name }) => name).filter((name) => GADGET_NAME.test(name)),
    json: rows.map(({ json }) => json),
    text: `${columns(all.map((cells) => cells.slice(0, width)))}\n`,
    notes: problemText(rows.map(({ json }) => json)),
  };
}

async function describe(entry: CatalogEntry) {
  const { name, source } = entry;
  const { gadget, problem, state } = await loadedGadget(entry);
  const permissions = gadget?.permissions ?? {};
  const needs = gadget === undefined ? "?" : permissionWords(permissions);
  const grant = entry.grant?.();
  const granted = grant === undefined ? "" : grantWords(grant, permissions);
  return {
    cells: [name, sourceWord(source), state, needs, granted],
    json: {
      name,
      source,
      state,
      problem,
      ...(gadget === undefined ? {} : { description: gadget.description ?? "", permissions }),
      grant,
    },
  };
}

/** What is broken, one by one; what is only not trusted is meant to be so, and told once. */
function problemText(
  rows: readonly { readonly state: CatalogEntry["state"]; readonly problem?: string }[],
): string {
  const broken = rows.filter(({ state }) => state === "broken").map(({ problem = "" }) =>
    `${printableLine(problem)}\n`
  );
  const untrusted = rows.filter(({ state }) => state === "not-trusted").length;
  const told = untrusted === 0
    ? ""
    : `${untrusted} not trusted, so not started; to start one, add --trust NAME, and for good: orrery trust allow NAME\n`;
  return broken.join("") + told;
}

/** The files of a kind. */
async function fileList(lists: KindLists, all: string): Promise<Told> {
  const { project } = await openApp();
  const { files, head, rows, notes } = await lists.list(project);
  return {
    names: files.map(({ file }) => typedPath(file, project)).filter(isTypable),
    json: { [all]: files },
    text: tableText(head, rows),
    notes,
  };
}

/** What can be asked, and what is missing for it; contacts nobody. */
async function modelList(): Promise<Told> {
  const models = await (await openApp()).models();
  const { aliases, known, providers, offline } = models;
  const variable = wantedModel();
  const chosen = variable ?? models.default;
  const keyOf = ({ keyVariables, hasKey }: typeof providers[number]) =>
    hasKey ? "set" : keyVariables.length === 0 ? "none needed" : `missing: ${keyVariables.join(" or ")}`;
  const usable = new Set(
    providers.filter((provider) => !keyOf(provider).startsWith("missing")).map(({ name }) => name),
  );
  const names = [
    ...aliases.map(({ name }) => name),
    ...known.map(({ id }) => id).filter((id) => usable.has(id.slice(0, id.indexOf("/")))),
    ...offline.map(({ id }) => id).filter((id) => !id.endsWith("FILE")),
  ];
  return {
    // An id may hold anything, and a script reads a word a line.
    names: names.filter((name) => /^[\w./:@+-]+$/.test(name)),
    json: { ...models, chosen: chosen ?? null },
    text: pageOf([
      chosen === undefined
        ? "Default: none; set models.default in orrery.yaml, or ORRERY_MODEL"
        : printableLine(`Default: ${chosen} (${variable ? "ORRERY_MODEL" : "models.default"})`),
      section(
        "Aliases",
        ["ALIAS", "MODEL", "FALLBACK"],
        aliases.map(({ name, id, fallback }) => [name, id, fallback.join(", ")]),
      ),
      section(
        "Providers",
        ["PROVIDER", "TYPE", "KEY", "ADDRESS"],
        providers.map((provider) => [provider.name, provider.type, keyOf(provider), provider.baseURL]),
      ),
      section("Without a provider", ["MODEL", ""], offline.map(({ id, about }) => [id, about])),
    ]),
  };
}

function section(title: string, head: readonly string[], rows: readonly (readonly string[])[]): string {
  return rows.length === 0 ? "" : `${title}\n${columns([head, ...rows])}`;
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
  return changed.map((limit) => limit.join(" ")).join(", ") || "default";
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
function promptTables({ located, locatedTactics, modules, notLoaded }: PromptIndex): string {
  const missing = filesOf(notLoaded);
  const left = (files: PromptIndex["modules"]["prompts"]) =>
    files.filter(({ file }) => missing.includes(file));
  const prompts = [...located.values()].map((each) => [
    each.prompt.path,
    promptAnswer(each.prompt).kind.replace("json", "JSON"),
    listWords(each.prompt.tools.map(toolName)),
    listWords(promptVariables(each).names),
    each.claim.source.file,
  ]);
  const unknown = left(modules.prompts).map((
    { namespace, stem, file },
  ) => [[namespace, stem, "…"].filter((part) => part !== "").join("/"), "not loaded", "?", "?", file]);
  const tactics = [
    ...[...locatedTactics.values()].map(({ tactic, file }) => [tactic.name, listWords(tactic.agents), file]),
    ...left(modules.tactics).map(({ file }) => ["…", "not loaded", file]),
  ];
  return [
    tableText(["PATH", "ANSWER", "TOOLS", "VARIABLES", "FILE"], [...prompts, ...unknown]),
    tableText(["TACTIC", "AGENTS", "FILE"], tactics),
  ].filter((text) => text !== "").join("\n");
}

function listWords(words: readonly string[]): string {
  return words.join(", ") || "-";
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
