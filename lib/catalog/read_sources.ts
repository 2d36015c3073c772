import { messageOf } from "../core/source_error.ts";
import { FileError } from "../core/world.ts";
import { readPromptFile } from "../parse/prompt_file.ts";
import type { HandlebarsBodies } from "../prompt/handlebars_body.ts";
import type { PromptFileProblem } from "../prompt/prompt_file_problem.ts";
import type { LoadModule } from "./module_loader.ts";
import { modulePrompts } from "./module_prompts.ts";
import { type KeepFile, keepNothing } from "./keep_file.ts";
import type { ProjectPlace } from "./project_file.ts";
import { keyIn, type PromptClaim, type ReadSource } from "./prompt_claim.ts";
import type { SourceFile } from "./source_files.ts";
import { textPrompt } from "./text_prompt.ts";

/** How files are read. */
export interface ReadOptions extends ProjectPlace {
  readonly loadModule: LoadModule;
  readonly keep?: KeepFile;
}

/** How many files are read at a time. */
const AT_ONCE = 64;

/** Reads files, and gives what they say in the order of the files. */
export async function readSources(
  sources: readonly SourceFile[],
  options: ReadOptions,
): Promise<{ readonly claims: readonly PromptClaim[]; readonly problems: readonly PromptFileProblem[] }> {
  const dotprompt = sources.some(({ kind }) => kind === "dotprompt")
    ? await dotpromptReader(options)
    : undefined;
  const read: ReadSource[] = [];
  for (let start = 0; start < sources.length; start += AT_ONCE) {
    const some = sources.slice(start, start + AT_ONCE);
    read.push(...await Promise.all(some.map((source) => readSource(source, options, dotprompt))));
  }
  return {
    claims: read.flatMap(({ claims }) => claims),
    problems: sources.flatMap((source, index) => {
      const about = { file: source.file, ...keyOf(source) };
      return (read[index]?.problems ?? []).map((problem) => ({ ...about, ...problem }));
    }),
  };
}

/** What a file that cannot be read would define: a module's prompts are called by its place, others may have names of their own. */
function keyOf({ kind, namespace, stem }: SourceFile): Pick<PromptFileProblem, "key" | "isUnsure"> {
  const key = keyIn(namespace, stem);
  return kind === "module" ? { key: `${key}/` } : { key, isUnsure: true };
}

type Read = (source: SourceFile) => Promise<ReadSource>;

async function readSource(
  source: SourceFile,
  options: ReadOptions,
  dotprompt: Read | undefined,
): Promise<ReadSource> {
  const { files, keep = keepNothing } = options;
  try {
    if (source.kind === "module") return await modulePrompts(source, options);
    if (source.kind === "dotprompt") return await dotprompt?.(source) ?? { claims: [], problems: [] };
    const file = await keep(source.path, async () => readPromptFile(await files.readText(source.path)));
    return textPrompt(file, source, options);
  } catch (thrown) {
    if (!(thrown instanceof FileError)) throw thrown;
    const message = messageOf(thrown).replaceAll(source.path, source.file);
    return { claims: [], problems: [{ line: 1, message }] };
  }
}

/** Handlebars and the dotprompt package take a while to load: only where there is such a file. */
async function dotpromptReader({ files, keep = keepNothing }: ReadOptions): Promise<Read> {
  const { loadHandlebars }: typeof import("../prompt/handlebars_body.ts") = await import(
    "../prompt/handlebars_body.ts" as string
  );
  const { readDotpromptFile }: typeof import("../prompt/dotprompt_file.ts") = await import(
    "../prompt/dotprompt_file.ts" as string
  );
  const { dotpromptPrompt }: typeof import("./dotprompt_prompt.ts") = await import(
    "./dotprompt_prompt.ts" as string
  );
  const bodies: HandlebarsBodies = await loadHandlebars();
  return async (source) => {
    const file = await keep(
      source.path,
      async () => readDotpromptFile(await files.readText(source.path), bodies),
    );
    return dotpromptPrompt(file, source, { files, bodies });
  };
}
