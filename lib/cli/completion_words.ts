import { COMMANDS } from "./flags.ts";
import type { Argument, CommandSpec, Flag } from "./flags.ts";
import { TOPICS } from "./help.ts";

/** The forms of a flag as they are typed: `--output`, `-o`. */
export function typedForms(flag: Flag): string[] {
  return [`--${flag.name}`, ...(flag.short === undefined ? [] : [`-${flag.short}`])];
}

/** Flags whose value is the next word; a grant has its list behind `=` only. */
export function flagsWithNextWord(spec: CommandSpec): Flag[] {
  return spec.flags.filter((flag) => flag.kind !== "switch" && flag.kind !== "grant");
}

/** What a value can be, for a completion script. */
export type ValueSource =
  | { readonly kind: "choices"; readonly choices: readonly string[] }
  /** `shown`: names of the kind that the word before says, as `orrery show` takes them. */
  | { readonly kind: "file" | "file-or-prompt" | "shown" | "none" }
  | NameSource;

/** Names that the program lists: `orrery list KIND --names`. */
export interface NameSource {
  readonly kind: "names";
  readonly of: "gadgets" | "models" | "profiles" | "prompts" | "runs";
}

/** Where the values of a flag or a word come from. */
export function valueSource(
  of: { readonly choices?: readonly string[]; readonly names?: Flag["names"] | Argument["names"] },
): ValueSource {
  if (of.choices !== undefined) return { kind: "choices", choices: of.choices };
  switch (of.names) {
    case "gadget":
    case "model":
    case "profile":
    case "prompt":
    case "run":
      return { kind: "names", of: `${of.names}s` };
    case "help":
      return { kind: "choices", choices: [...Object.keys(COMMANDS), ...Object.keys(TOPICS)] };
    case undefined:
      return { kind: "none" };
    default:
      return { kind: of.names };
  }
}

/** Whether the list behind a grant's `=` names files. */
export function grantsFiles(flag: Flag): boolean {
  return flag.kind === "grant" && (flag.value ?? "").startsWith("PATH");
}

/** A text in single quotes, as bash, zsh and the like read it. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
