import { messageOf } from "../core/source_error.ts";
import { promptPath } from "../prompt/prompt_path.ts";
import { isPrompt } from "../prompt/prompt_parts.ts";
import { loadExports, type LoadModule } from "./module_loader.ts";
import { moduleProblem } from "./module_problem.ts";
import { keyIn, type PromptClaim, type ReadSource } from "./prompt_claim.ts";
import type { SourceFile } from "./source_files.ts";

/** The prompts that a module exports, each under its path, or else under its name (prompts.md 12). */
export async function modulePrompts(
  source: SourceFile,
  { root, loadModule }: { readonly root: string; readonly loadModule: LoadModule },
): Promise<ReadSource> {
  try {
    const exported = await loadExports(source.path, loadModule);
    const claims = Object.entries(exported).flatMap(([name, value]) => {
      const claim = name.startsWith("_") ? undefined : claimOf(name, value, source);
      return claim === undefined ? [] : [claim];
    });
    return { claims, problems: [] };
  } catch (thrown) {
    return { claims: [], problems: [moduleProblem(thrown, { path: source.path, root })] };
  }
}

function claimOf(exported: string, value: unknown, source: SourceFile): PromptClaim | undefined {
  if (!isPrompt(value)) return undefined;
  const { namespace, stem } = source;
  const own = value.path !== "" ? promptPath(value.path) : exported === "default" ? "" : exported;
  const key = keyIn(namespace, stem, own);
  return {
    key,
    source,
    value,
    exported,
    isSteady: true,
    make() {
      try {
        return { prompt: value.extend({ path: key }) };
      } catch (thrown) {
        return { problems: [{ line: 1, message: messageOf(thrown) }] };
      }
    },
  };
}

/** The line of a module that an export stands in, as far as its text tells; else 1. */
export function lineOfExport(text: string, name: string): number {
  const word = name === "default" ? "default" : `(?:const|let|var|function|class)\\s+${RegExp.escape(name)}`;
  const found = new RegExp(`^[ \\t]*export\\s+${word}(?![\\w$])`, "m").exec(text);
  return found === null ? 1 : text.slice(0, found.index).split("\n").length;
}
