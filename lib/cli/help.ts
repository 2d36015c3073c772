import { maybeOwnFile, ownFiles } from "../host/paths.ts";
import { paged } from "../host/terminal/pager.ts";
import { isCompiled } from "../host/process.ts";
import { hasColor, type Terminal } from "../host/terminal/terminal.ts";
import { markdownText } from "../render/markdown_text.ts";
import { type Argument, COMMANDS, type CommandSpec, type Flag, TOPICS } from "./flags/flags.ts";
import { argumentText } from "./flags/parse.ts";
import { pageOf } from "../render/page_text.ts";

const TEXT_COLUMN = 28;
const TEXT_WIDTH = 70;

/** The help of a command, for `orrery COMMAND --help`. */
export async function commandHelp(spec: CommandSpec): Promise<string> {
  // What stands in its page: paragraphs, and lines to type, each with what it does: "- `LINE`: WHAT".
  const page = await helpFile(`commands/${spec.name}.md`) ?? "";
  const notes = page.split("\n\n").map((block) => block.trim().replaceAll("\n", " "))
    .filter((block) => block !== "" && !block.startsWith("- "));
  const examples = [...page.matchAll(/^- `(.+)`: (.+)$/gm)];
  return pageOf([
    `${spec.summary}\n\nUsage: ${usageLine(spec)}`,
    section("Words", spec.arguments.map((argument) => [argument.name, argumentText(argument)])),
    section("Flags", spec.flags.map((flag) => [flagUsage(flag), flagText(flag)])),
    notes.flatMap((note) => wrapped(note, TEXT_WIDTH + TEXT_COLUMN)).join("\n"),
    section("Examples", examples.map(([, line = "", does = ""]) => [line, does])),
  ]);
}

/** Shows the page of a topic: as it is in a pipe, drawn and through the pager in a terminal. @param options.before stands in front of it */
export async function showTopic(
  topic: string,
  { terminal: { stdout, size }, before }: { readonly terminal: Terminal; readonly before: string },
): Promise<void> {
  const page = await helpFile(`${topic}.md`) ?? "";
  const head = before === "" ? "" : `${before}\n`;
  if (!stdout.isTerminal) return await stdout.write(head + page);
  const { columns, rows } = size();
  const text = head + markdownText(page, { columns, color: hasColor(stdout) });
  if (text.split("\n").length > rows && await paged(text)) return;
  await stdout.write(text);
}

/** What there is, for `orrery --help`. */
export function overview(): string {
  return pageOf([
    "Orrery runs LLM work that is kept in plain files.",
    "Usage: orrery COMMAND ...",
    section("Commands", Object.values(COMMANDS).map((spec) => [usageLine(spec).slice(7), spec.summary])),
    section("Topics, for orrery help TOPIC", Object.entries(TOPICS)),
    section("Flags", [
      ["-h, --help", "Shows this; orrery COMMAND --help shows the help of a command."],
      ["-V, --version", "Prints the version."],
    ]),
  ]);
}

function usageLine({ name, arguments: words, flags }: CommandSpec): string {
  return ["orrery", name, ...words.map(argumentUsage), ...(flags.length > 1 ? ["[flags]"] : [])].join(" ");
}

function argumentUsage({ name, choices, many, required }: Argument): string {
  const words = (choices?.join("|") ?? name) + (many === true ? "..." : "");
  return required ? words : `[${words}]`;
}

function flagUsage({ name, short, kind, value }: Flag): string {
  const form = `${short === undefined ? "" : `-${short}, `}--${name}`;
  return kind === "switch" ? form : kind === "grant" ? `${form}[=${value}]` : `${form} ${value}`;
}

function flagText(flag: Flag): string {
  const choices = flag.choices === undefined ? "" : ` One of ${flag.choices.join(", ")}.`;
  return `${flag.help}${choices}${flag.default === undefined ? "" : ` Default: ${flag.default}.`}`;
}

function section(title: string, rows: readonly (readonly [string, string])[]): string {
  return rows.length === 0 ? "" : `${title}:\n${rows.map(([left, right]) => row(left, right)).join("\n")}`;
}

/** A name and its text; the text goes under a name that is too long to stand beside. */
function row(left: string, right: string): string {
  const [first = "", ...more] = wrapped(right, TEXT_WIDTH);
  const margin = " ".repeat(TEXT_COLUMN);
  const head = `  ${left}`;
  const start = head.length + 2 <= TEXT_COLUMN
    ? head.padEnd(TEXT_COLUMN) + first
    : `${head}\n${margin}${first}`;
  return [start, ...more.map((line) => margin + line)].join("\n");
}

function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last === undefined || last.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}

// The texts of lib/help: the pages of help and the project of `orrery init`. A compiled program has them inside, as one file.

/** Where `.ci/compile.ts` puts them: beside the modules of the bundle. */
const INSIDE = new URL("./assets/help.json", import.meta.url);

const FOLDER = new URL("../help/", import.meta.url);

/** A text of lib/help. @param path from there, such as `calls.md` @returns undefined when it is not there */
export async function helpFile(path: string): Promise<string | undefined> {
  return isCompiled() ? (await inside()).get(path) : await maybeOwnFile(new URL(path, FOLDER));
}

/** All texts below a folder of lib/help, by their path from it, in order. @param folder such as `project/`; `""` is lib/help itself */
export async function helpFiles(folder: string): Promise<ReadonlyMap<string, string>> {
  if (isCompiled()) {
    const below = [...await inside()].filter(([path]) => path.startsWith(folder));
    return new Map(below.map(([path, text]) => [path.slice(folder.length), text]));
  }
  const texts = new Map<string, string>();
  for (const path of await ownFiles(new URL(folder, FOLDER))) {
    if (/\.(?:png|svg)$/.test(path)) continue; // pictures of README.md
    texts.set(path, await helpFile(folder + path) ?? "");
  }
  return texts;
}

async function inside(): Promise<ReadonlyMap<string, string>> {
  const files: Readonly<Record<string, string>> = JSON.parse(await maybeOwnFile(INSIDE) ?? "{}");
  return new Map(Object.entries(files));
}
