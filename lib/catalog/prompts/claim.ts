import { messageOf, PromptError } from "../../core/core.ts";
import { FILE_START, type LineProblem, type Place } from "../../parse/yaml/front_matter.ts";
import { isPrompt } from "../../prompt/parts.ts";
import type { AnyPrompt } from "../../prompt/prompt.ts";
import { promptPath } from "../../prompt/registry.ts";
import { loadExports, type LoadModule, moduleProblem } from "../module_loader.ts";
import type { SourceFile } from "../sources/files.ts";

/** What a file says of a prompt that it defines, before it is clear whether the prompt can be made. */
export interface PromptClaim {
  /** The path that the prompt is registered under. */
  readonly key: string;
  /** The key cannot be read: this is where the file would be without a name. It takes no other prompt's place. */
  readonly isUnsure?: true;
  readonly source: SourceFile;
  /** Two claims of one value for one key are no clash. */
  readonly value: object;
  /** The name it is exported by, of a module. */
  readonly exported?: string;
  /** The prompt that it extends; it is made first. */
  readonly base?: { readonly key: string } & Place;
  /** Makes it, with its key as its path. */
  make(base: AnyPrompt | undefined): MadePrompt | Promise<MadePrompt>;
  /** What is wrong with it whatever it extends; nothing is, by default. @param isForeign what it extends has a grammar of its own */
  problems?(options: { readonly isForeign: boolean }): Promise<readonly LineProblem[]>;
}

/** A prompt, or why there is none. */
export type MadePrompt = { readonly prompt: AnyPrompt } | { readonly problems: readonly LineProblem[] };

/** What a file defines, or what is wrong with it. */
export interface ReadSource {
  readonly claims: readonly PromptClaim[];
  readonly problems: readonly LineProblem[];
}

/** Names of a namespace, joined; no name is the namespace itself. */
export function keyIn(namespace: string, ...names: readonly string[]): string {
  return [namespace, ...names].filter((name) => name !== "").join("/");
}

/** The key of the one prompt of a file. */
export interface FileKey {
  readonly key: string;
  readonly isUnsure: boolean;
  /** What is wrong with the name. */
  readonly problems: readonly LineProblem[];
}

/** The key of a file: its name, which may hold `/`, or else the stem of the file; that too when the name is none. */
export function keyOfFile(
  { namespace, stem }: SourceFile,
  { name, isNamed, place = FILE_START }: {
    readonly name: string | undefined;
    readonly isNamed: boolean;
    readonly place?: Place;
  },
): FileKey {
  const ofStem = keyIn(namespace, stem);
  if (name === undefined) return { key: ofStem, isUnsure: !isNamed, problems: [] };
  try {
    const own = promptPath(name);
    if (own === "") throw new PromptError("name must not be empty", { code: "define" });
    return { key: keyIn(namespace, own), isUnsure: false, problems: [] };
  } catch (thrown) {
    return { key: ofStem, isUnsure: true, problems: [{ ...place, message: messageOf(thrown) }] };
  }
}

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
