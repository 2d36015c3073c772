/** What stands behind a flag. */
export type FlagKind =
  | "switch" // nothing
  | "text" // any text; given twice it is an error
  | "count" // a whole number from 1
  | "number" // a number from 0
  | "seconds" // a number above 0
  | "list" // a,b,c; may be repeated
  | "texts" // any text; may be repeated
  | "grant"; // nothing (all of it) or =a,b,c; may be repeated

/** What a command is about, once its words and flags were read. */
export type Subject =
  | "calls" // `run`: a call file
  | "prompt"
  | "document"
  | "conversation" // of an agent file
  | "question" // `ask`: of a model
  | "talk" // `chat`: with a model
  | "--prompt" // `ask`: by that flag
  | "--profile" // `ask` and `chat`: by that flag
  | "--server"; // by that flag: whatever a running server does

/** A flag of a command. */
export interface Flag {
  /** Without the dashes. */
  readonly name: string;
  /** One letter. */
  readonly short?: string;
  readonly kind: FlagKind;
  /** What the value is called in the help; for every kind but `switch`. */
  readonly value?: string;
  /** The only values there are. */
  readonly choices?: readonly string[];
  /** What holds without the flag, as the help says it. */
  readonly default?: string;
  readonly help: string;
  /** What the value names, for completions. */
  readonly names?: "file" | "gadget" | "model" | "profile" | "prompt";
  /** Who does not take it, and what stands behind its name in the error. */
  readonly not?: Readonly<Record<string, string | undefined>> & { readonly [subject in Subject]?: string };
}

type Named<Name extends string, Kind extends FlagKind> = Flag & { readonly name: Name; readonly kind: Kind };

/** A flag with a value: `--NAME VALUE`. */
export function flag<const Name extends string, const Kind extends Exclude<FlagKind, "switch">>(
  name: Name,
  kind: Kind,
  value: string,
  help: string,
  more: Omit<Flag, "name" | "kind" | "value" | "help"> = {},
): Named<Name, Kind> {
  return { name, kind, value, help, ...more };
}

/** A flag without one: `--NAME`. */
export function toggle<const Name extends string>(
  name: Name,
  help: string,
  more: Pick<Flag, "short" | "not"> = {},
): Named<Name, "switch"> {
  return { name, kind: "switch", help, ...more };
}

/** A word of a command that is no flag. */
export interface Argument {
  readonly name: string;
  readonly help: string;
  /** Default: it may be left out. */
  readonly required?: true;
  /** The flag with which it may be left out all the same. */
  readonly unless?: string;
  /** The last word may be given several times. */
  readonly many?: boolean;
  readonly choices?: readonly string[];
  /** The words of kinds of files may be chosen, too. */
  readonly ofKinds?: true;
  /** `shown`: what the word before it says. */
  readonly names?: "file" | "file-or-prompt" | "help" | "run" | "shown";
}

/** A command: its words and its flags. What more its help says is lib/help/commands/NAME.md. */
export interface CommandSpec {
  readonly name: string;
  readonly summary: string;
  readonly arguments: readonly Argument[];
  readonly flags: readonly Flag[];
}

/** What the flags of a command were set to; a flag that was not typed is `false`, `undefined` or an empty list. */
export type FlagValues<Flags extends readonly Flag[]> = {
  readonly [F in Flags[number] as F["name"]]: FlagValue<F["kind"]>;
};

type FlagValue<Kind extends FlagKind> = Kind extends "switch" ? boolean
  : Kind extends "text" ? string | undefined
  : Kind extends "count" | "number" | "seconds" ? number | undefined
  : Kind extends "list" | "texts" ? readonly string[]
  : readonly (string | true)[];

/** A command line that was understood. */
export interface ParsedCommand<Spec extends CommandSpec> {
  readonly words: readonly string[];
  readonly flags: FlagValues<Spec["flags"]>;
  /** `--help` was among the words; nothing else was looked at. */
  readonly wantsHelp: boolean;
}
