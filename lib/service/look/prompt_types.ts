import { promptTypeText, referencedModules, specifierOf } from "../../catalog/prompts/type_text.ts";
import { projectPath } from "../../core/core.ts";
import type { PromptIndex } from "../../project/prompt_index.ts";

/** What such a file begins with: by this it is told from one that somebody wrote. */
const MARK = "// Made by `orrery list prompts --write-types`";

/** Whether a text is that of such a file. */
export function isPromptTypes(text: string): boolean {
  return text.startsWith(MARK);
}

/**
 * The text of `prompts.gen.ts`: a module with the types of a project's prompts by path, and imports of its modules, so that a compiled
 * program holds them (prompts.md 12). The same prompts give the same text.
 *
 * @param file itself; absolute
 */
export function promptTypes({ root, located, modules: found }: PromptIndex, file: string): string {
  const prompts = [...located.values()];
  const paths = [
    ...[...found.prompts, ...found.tactics].map(({ path }) => path),
    ...prompts.flatMap(referencedModules),
  ].filter((path) => path !== file);
  const modules = new Map(paths.map((path) => [projectPath(path, root), path]));
  const entries = prompts.map((located) => {
    const { prompt: { path }, claim: { source } } = located;
    const from = source.file.replaceAll("*/", "*\\/").replaceAll("\n", "\\u000a");
    return `  /** ${from} */\n  readonly ${JSON.stringify(path)}: ${
      promptTypeText(located, { from: file })
    };\n`;
  });
  const lines = [...modules].toSorted(([a], [b]) => a < b ? -1 : 1).map(([name, path]) =>
    `  ${JSON.stringify(name)}: () => import(${JSON.stringify(specifierOf(path, { from: file }))}),\n`
  );
  const body = withoutControls(bodyText(entries.join(""), lines.join("")));
  const helpers = HELPERS.filter(({ name }) => isNamed(name, body)).map(({ text }) => `\n${text}`);
  const rest = `${helpers.join("")}\n${body}`;
  const names = TYPES.filter((name) => isNamed(name, rest));
  return `${MARK} from the prompts of the project; what is changed here is lost when it is made again.
// deno-fmt-ignore-file
// deno-lint-ignore-file
import type { ${names.join(", ")} } from "orrery";
${rest}`;
}

/** Controls of file names and templates, as strings may write them too: some end a comment or a line, others are obeyed by terminals. */
function withoutControls(code: string): string {
  return code.replaceAll(
    CONTROLS,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** All but the line feed, with the separators of lines and what turns the direction of writing. */
const CONTROLS = /(?!\n)\p{Cc}|[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

/** Whether code names a type; in texts and comments every word may stand. */
function isNamed(name: string, code: string): boolean {
  return new RegExp(`\\b${name}\\b`).test(code.replaceAll(/"(?:[^"\\]|\\.)*"|\/\*[^]*?\*\//g, ""));
}

/** What is imported when it is named. */
const TYPES: readonly string[] = [
  "AnyPrompt",
  "ArgsOf",
  "InputOf",
  "Prompt",
  "PromptRegistry",
  "Raw",
  "TagResult",
  "ToolRef",
];

const HELPERS: readonly { readonly name: string; readonly text: string }[] = [
  {
    name: "TextPrompt",
    text: `/** A prompt whose arguments follow from its template. */
type TextPrompt<Template extends string, Output, Tools extends readonly ToolRef[]> = Prompt<Template, Output, Tools, ArgsOf<Template>>;
`,
  },
  {
    name: "PartsOf",
    text: `/** What a prompt hands on to those that extend it. */
type PartsOf<Path extends keyof Prompts> = Prompts[Path] extends Prompt<infer Template, infer Output, infer Tools, infer Args>
  ? { template: Template; output: Output; tools: Tools; args: Args }
  : never;
`,
  },
];

function bodyText(entries: string, modules: string): string {
  return `/** The prompts of the project, by path. */
export interface Prompts {
${entries}}

/** A registry that knows the types of the prompts of the project. */
export interface TypedRegistry extends Omit<PromptRegistry, "get"> {
  get<Path extends keyof Prompts>(path: Path): Prompts[Path];
}

/** The registry as one that knows the types; its prompts have to be those of the project. */
export function typedPrompts(registry: PromptRegistry): TypedRegistry {
  return registry;
}

/** The modules of the prompts and tactics, by path from the project; discoverPrompts takes them where no file is, as in a compiled program. */
export const modules: Readonly<Record<string, () => Promise<unknown>>> = {
${modules}};
`;
}
