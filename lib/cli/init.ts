import { join, resolve } from "node:path";
import { makeNewFiles } from "../host/files/make_new_files.ts";
import { lookAt, workingFolder } from "../host/paths.ts";
import { isCompiled } from "../host/process.ts";
import type { Terminal } from "../host/terminal/terminal.ts";
import { printableLine } from "../render/shown_text.ts";
import { EXIT, UsageError } from "../service/exit_code.ts";
import type { COMMANDS, ParsedCommand } from "./flags/flags.ts";
import { helpFile, helpFiles } from "./help.ts";
import { jsonPage } from "./page.ts";

/** What is made of one kind. */
interface Part {
  readonly files: readonly string[];
  /** Files that come together, and are there already when the first of them is. */
  readonly needs: readonly (readonly string[])[];
  /** Commands to go on with. */
  readonly next: readonly [string, string];
}

const PRICE = "gadgets/price.ts";
const MODEL = ["orrery.yaml", "model.yml"];
const EDITOR = ["deno.json", "orrery.d.ts"];

const PARTS: Readonly<Record<string, Part>> = {
  agent: {
    files: ["table.agent.yml", "table.conversation-test.yml"],
    needs: [MODEL],
    next: ["orrery chat table.agent.yml", "orrery test table.conversation-test.yml"],
  },
  calls: {
    files: ["bill.calls"],
    needs: [[PRICE], EDITOR],
    next: ["orrery run bill.calls", "orrery graph bill.calls"],
  },
  document: {
    files: ["sign.md", "sign.document-test.yml"],
    needs: [MODEL],
    next: ["orrery run sign.md", "orrery test sign.document-test.yml"],
  },
  prompt: {
    files: ["prompts/cake.prompt.md"],
    needs: [MODEL],
    next: ["orrery run cake -i guest=Ana", "orrery show prompt cake"],
  },
  gadget: { files: [PRICE], needs: [EDITOR], next: ["orrery show gadget Price", "orrery list gadgets"] },
};

/** `orrery init [FOLDER]`: all files or none. */
export async function init(
  { words: [word = "."], flags }: ParsedCommand<typeof COMMANDS.init>,
  terminal: Terminal,
): Promise<number> {
  const folder = resolve(workingFolder(), word);
  const all = await projectFiles();
  const part = PARTS[flags.kind ?? ""] ?? { files: [...all.keys()], needs: [], next: WHOLE_NEXT };
  const has = ([first = ""]: readonly string[]) => lookAt(join(folder, first)) !== "nothing";
  const missing = part.needs.filter((files) => !has(files)).flat();
  const texts = new Map([...all].filter(([path]) => part.files.includes(path) || missing.includes(path)));
  const shown = (path: string) => printableLine(join(word, path));
  const taken = await makeNewFiles({ folder, texts });
  if (taken.length > 0) {
    const names = taken.map(shown).join(", ");
    const problem = `Nothing was written: ${names} ${taken.length === 1 ? "is" : "are"} there already`;
    throw new UsageError(problem, "init");
  }
  const left = part.needs.includes(EDITOR) && !texts.has("deno.json")
    ? `${shown("deno.json")} stays as it is: orrery help library says what an editor needs in it\n`
    : "";
  const go = word === "." ? [] : [`cd ${/[^\w./-]/.test(word) ? JSON.stringify(word) : word}`];
  const next = [...go, ...part.next].map((line) => `  ${line}\n`).join("");
  const written = [...texts.keys()].map((path) => `${shown(path)}\n`).join("");
  await terminal.stdout.write(`${written}${left}\nNext:\n${next}`);
  return EXIT.ok;
}

/** Of the whole project. */
const WHOLE_NEXT = ["orrery run bill.calls", "orrery test ."] as const;

type Texts = ReadonlyMap<string, string>;

async function projectFiles(): Promise<Texts> {
  // Under its own name it would count in the repository of Orrery.
  const named = [...await helpFiles("project/")].map(([path, text]) =>
    [path === "gitignore" ? ".gitignore" : path, text] as const
  );
  return new Map([...named, ...await editorFiles()]);
}

/** What tells an editor, and `deno check`, the types of "orrery". A compiled program has no `mod.ts` to name. */
async function editorFiles(): Promise<Texts> {
  const types = isCompiled() ? await helpFile("orrery.d.ts") : undefined;
  const root = new URL("../../", import.meta.url);
  const settings = types === undefined
    ? { links: [root.href], imports: { orrery: new URL("mod.ts", root).href } }
    : { imports: { orrery: "./orrery.d.ts" } };
  const files = new Map([["deno.json", jsonPage(settings)]]);
  return types === undefined ? files : files.set("orrery.d.ts", types);
}
