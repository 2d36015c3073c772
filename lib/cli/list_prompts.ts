import { typedPath } from "../catalog/shown_path.ts";
import type { Json } from "../core/json.ts";
import type { Problem } from "../core/prompt_error.ts";
import { workingFolder } from "../host/paths.ts";
import type { Terminal } from "../host/terminal.ts";
import type { PromptIndex } from "../project/prompt_index.ts";
import { toolName } from "../prompt/tool_list.ts";
import { printableLine } from "../render/shown_text.ts";
import { table } from "../render/table.ts";
import { EXIT } from "../service/exit_code.ts";
import { promptAnswer } from "../service/prompt_answer.ts";
import type { PromptAnswer } from "../service/prompt_answer.ts";
import { listedPrompt, listedTactic } from "../service/look/prompt_data.ts";
import { promptVariables } from "../service/prompt_variables.ts";

/** How a list is wanted. */
export interface ListLook {
  readonly json: boolean;
  readonly names: boolean;
}

/** `orrery list prompts`: what `orrery run` finds by a path or a name, and what is wrong with the rest. */
export async function listPrompts(index: PromptIndex, look: ListLook, terminal: Terminal): Promise<number> {
  if (look.names) await terminal.stdout.write(promptNames(index).map((name) => `${name}\n`).join(""));
  else if (look.json) await terminal.stdout.write(`${JSON.stringify(promptsJson(index), null, 2)}\n`);
  else {
    await terminal.stdout.write(promptTables(index));
    await terminal.stderr.write(promptNotes(index));
  }
  return EXIT.ok;
}

/** What can be typed behind `orrery run`. A path may hold anything, and a script reads a name a line and types it as it is. */
export function promptNames({ registry, tactics }: PromptIndex): readonly string[] {
  return [...registry.keys(), ...tactics.keys()].filter(isTypable);
}

/** Whether a shell takes a name as one plain word. */
export function isTypable(name: string): boolean {
  return /^(?!-)[\p{L}\p{M}\p{N}_./@+-]+$/u.test(name);
}

/** The same as plain data. */
export function promptsJson(
  { located, locatedTactics, problemsOf, notLoaded }: PromptIndex,
): { readonly [name: string]: Json } {
  const prompts = [...located.values()].map(listedPrompt).map(({ input: _input, ...prompt }) => prompt);
  const tactics = [...locatedTactics.values()].map(listedTactic);
  const told = [...problemsOf.prompts, ...problemsOf.tactics].map(({ file, line, message }) => ({
    file,
    line,
    message,
  }));
  return { prompts, tactics, notLoaded: filesOf(notLoaded), problems: told };
}

/** Empty where there is nothing. */
export function promptTables(index: PromptIndex): string {
  const { located, locatedTactics, modules, notLoaded } = index;
  const missing = new Set(filesOf(notLoaded));
  const prompts = [
    ...[...located.values()].map((each) => [
      each.prompt.path,
      ANSWER_WORDS[promptAnswer(each.prompt).kind],
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

const ANSWER_WORDS: { readonly [kind in PromptAnswer["kind"]]: string } = {
  text: "text",
  tags: "tags",
  parser: "parser",
  json: "JSON",
};

/** A table with its head; empty without rows. */
export function tableText(head: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return "";
  return `${table([head, ...rows.map((row) => row.map(printableLine))]).join("\n")}\n`;
}

function listWords(words: readonly string[]): string {
  return words.length === 0 ? "-" : words.join(", ");
}

/** What is wrong, one by one; what was only not loaded is told once. */
function promptNotes(index: PromptIndex): string {
  const { located, locatedTactics, problemsOf, notLoaded } = index;
  const told = [...problemsOf.prompts, ...problemsOf.tactics];
  if (located.size + locatedTactics.size + told.length + notLoaded.length === 0) return `${NOTHING}\n`;
  return problemLines(told, index) + notLoadedLine(index);
}

const NOTHING =
  "The project has no prompts: they are *.prompt.md, *.prompt and *.ts files in prompts/, or in the folders that " +
  "prompts.folders of orrery.yaml names";

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
