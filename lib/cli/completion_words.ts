import type { CommandSpec, Flag } from "./flags.ts";

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
  | { readonly kind: "file" | "gadget" | "command" | "none" };

/** Where the values of a flag or a word come from. */
export function valueSource(
  of: { readonly choices?: readonly string[]; readonly names?: "file" | "gadget" | "command" },
): ValueSource {
  return of.choices === undefined ? { kind: of.names ?? "none" } : { kind: "choices", choices: of.choices };
}

/** Whether the list behind a grant's `=` names files. */
export function grantsFiles(flag: Flag): boolean {
  return flag.kind === "grant" && (flag.value ?? "").startsWith("PATH");
}

/** A text in single quotes, as bash, zsh and the like read it. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
