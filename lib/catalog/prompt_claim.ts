import { PromptError } from "../core/prompt_error.ts";
import { messageOf } from "../core/source_error.ts";
import type { LineProblem, Place } from "../parse/front_matter.ts";
import { FILE_START } from "../parse/front_matter.ts";
import { promptPath } from "../prompt/prompt_path.ts";
import type { AnyPrompt } from "../prompt/prompt_type.ts";
import type { SourceFile } from "./source_files.ts";

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
  /** What is made follows from the value, the key and the base alone. */
  readonly isSteady: boolean;
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
