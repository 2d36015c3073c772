import { PromptError } from "../core/prompt_error.ts";
import { promptPath } from "../prompt/prompt_path.ts";
import type { AnyPrompt } from "../prompt/prompt_type.ts";
import type { LineProblem } from "../parse/front_matter.ts";
import type { SourceFile } from "./source_files.ts";

/** What a file says of a prompt that it defines, before it is clear whether the prompt can be made. */
export interface PromptClaim {
  /** The path that the prompt is registered under. */
  readonly key: string;
  readonly source: SourceFile;
  /** Two claims of one value for one key are no clash. */
  readonly value: object;
  /** The name it is exported by, of a module. */
  readonly exported?: string;
  /** The prompt that it extends; it is made first. */
  readonly base?: { readonly key: string; readonly line: number };
  /** What is made follows from the value, the key and the base alone. */
  readonly isSteady: boolean;
  /** Makes it, with its key as its path. */
  make(base: AnyPrompt | undefined): MadePrompt | Promise<MadePrompt>;
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

/** The key of the one prompt of a file: its name, which may hold `/`, or else the stem of the file. @throws {PromptError} `define` */
export function keyOfFile({ namespace, stem }: SourceFile, name: string | undefined): string {
  if (name === undefined) return keyIn(namespace, stem);
  const own = promptPath(name);
  if (own === "") throw new PromptError("name must not be empty", { code: "define" });
  return keyIn(namespace, own);
}
