// The one table of the command line: parsing, --help, completions and the command reference all read it.

/** What stands behind a flag. */
export type FlagKind =
  | "switch" // nothing
  | "text" // any text; given twice it is an error
  | "count" // a whole number from 1
  | "seconds" // a number above 0
  | "list" // a,b,c; may be repeated
  | "texts" // any text; may be repeated
  | "grant"; // nothing (all of it) or =a,b,c; may be repeated

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
  readonly names?: "file" | "gadget";
}

/** A word of a command that is no flag. */
export interface Argument {
  readonly name: string;
  readonly help: string;
  readonly required: boolean;
  readonly choices?: readonly string[];
  readonly names?: "file" | "gadget" | "command";
}

/** A command: its words, its flags, and what the help says of it. */
export interface CommandSpec {
  readonly name: string;
  readonly summary: string;
  readonly arguments: readonly Argument[];
  readonly flags: readonly Flag[];
  /** Paragraphs under the flags. */
  readonly notes: readonly string[];
  readonly examples: readonly { readonly line: string; readonly does: string }[];
}

const help = { name: "help", short: "h", kind: "switch", help: "Shows this." } as const satisfies Flag;

const json = { name: "json", kind: "switch", help: "One JSON value on stdout." } as const satisfies Flag;

const output = {
  name: "output",
  short: "o",
  kind: "text",
  value: "FILE",
  names: "file",
  help: "Writes the result to FILE, whole or not at all; needs no --allow-write.",
} as const satisfies Flag;

const catalogFlags = [
  {
    name: "gadget",
    kind: "texts",
    value: "FILE",
    names: "file",
    help: "Adds the gadget of a module. May be repeated.",
  },
  {
    name: "trust",
    kind: "list",
    value: "NAME,...",
    names: "gadget",
    help: "Loads the modules of these gadgets; nobody else's module is ever loaded. May be repeated.",
  },
  {
    name: "trust-project",
    kind: "switch",
    help: "Lets what orrery.yaml itself grants and starts count, this time and from now on until it changes.",
  },
] as const satisfies readonly Flag[];

const permissionFlags = [
  {
    name: "allow-read",
    kind: "grant",
    value: "PATH,...",
    default: "the project root",
    help: "Files that may be read; without a list all.",
  },
  {
    name: "allow-write",
    kind: "grant",
    value: "PATH,...",
    default: ".orrery/ of the project root",
    help: "Files that may be written; without a list all.",
  },
  {
    name: "allow-net",
    kind: "grant",
    value: "HOST,...",
    default: "nothing",
    help: "Hosts (HOST or HOST:PORT) that may be reached; without a list all but private addresses.",
  },
  {
    name: "allow-run",
    kind: "grant",
    value: "PROGRAM,...",
    default: "nothing",
    help: "Programs that may be started; without a list all.",
  },
  {
    name: "allow-env",
    kind: "grant",
    value: "VARIABLE,...",
    default: "nothing",
    help: "Variables of the environment that may be read; without a list all.",
  },
  { name: "allow-all", short: "A", kind: "switch", help: "Allows everything that no --deny flag names." },
  {
    name: "deny-read",
    kind: "grant",
    value: "PATH,...",
    help: "Files that may not be read, whatever is allowed.",
  },
  {
    name: "deny-write",
    kind: "grant",
    value: "PATH,...",
    help: "Files that may not be written, whatever is allowed.",
  },
  {
    name: "deny-net",
    kind: "grant",
    value: "HOST,...",
    help: "Hosts that may not be reached, whatever is allowed.",
  },
  {
    name: "deny-run",
    kind: "grant",
    value: "PROGRAM,...",
    help: "Programs that may not be started, whatever is allowed.",
  },
  {
    name: "deny-env",
    kind: "grant",
    value: "VARIABLE,...",
    help: "Variables that may not be read, whatever is allowed.",
  },
] as const satisfies readonly Flag[];

/** Every command, in the order of the help. */
export const COMMANDS = {
  run: {
    name: "run",
    summary: "Runs the calls of a file, or of stdin, as a graph.",
    arguments: [
      {
        name: "FILE",
        required: true,
        names: "file",
        help: 'A file that ends with ".calls", or - for stdin.',
      },
    ],
    flags: [
      json,
      { name: "jsonl", kind: "switch", help: "Every event as one line of JSON on stdout, as it happens." },
      output,
      { name: "quiet", short: "q", kind: "switch", help: "Only errors on stderr; nobody is asked anything." },
      {
        name: "concurrency",
        kind: "count",
        value: "N",
        default: "16",
        help: "How many calls may run at once.",
      },
      {
        name: "timeout",
        kind: "seconds",
        value: "SECONDS",
        default: "60",
        help: "How long one call may take, unless its gadget says otherwise.",
      },
      ...catalogFlags,
      ...permissionFlags,
      help,
    ],
    notes: [
      "A call starts the moment the calls it depends on are done, also while the rest is still being written.",
      "The result goes to stdout: text as it is, everything else as JSON; progress and errors go to stderr. Several results are one " +
      "JSON object by id. A file without calls is no error: it has no result, and a notice says so.",
      "Exit codes: 0 every call gave a result, 1 one did not, 2 usage or configuration, 5 a permission was refused, 130 interrupted.",
      "Ctrl-C once ends the run in order; twice ends it at once.",
    ],
    examples: [
      { line: "orrery run release.calls", does: "runs a file" },
      { line: "model | orrery run -", does: "runs calls while they are being written" },
      {
        line: "orrery run report.calls --allow-write=out -o report.md",
        does: "lets it write to out/, keeps the result",
      },
    ],
  },
  list: {
    name: "list",
    summary: "Lists the gadgets that a run can call.",
    arguments: [{
      name: "KIND",
      required: false,
      choices: ["gadgets"],
      help: "What to list; gadgets without it.",
    }],
    flags: [
      json,
      { name: "names", kind: "switch", help: "Only the names, one a line." },
      ...catalogFlags,
      help,
    ],
    notes: [],
    examples: [{ line: "orrery list gadgets --json", does: "the same for a program" }],
  },
  show: {
    name: "show",
    summary: "Shows everything about one gadget.",
    arguments: [
      { name: "KIND", required: true, choices: ["gadget"], help: "What to show." },
      { name: "NAME", required: true, names: "gadget", help: "Its name." },
    ],
    flags: [json, ...catalogFlags, help],
    notes: [],
    examples: [{
      line: "orrery show gadget ReadFile",
      does: "what it takes, needs and gives, with a call to copy",
    }],
  },
  graph: {
    name: "graph",
    summary: "Draws how the calls of a file depend on each other; runs nothing.",
    arguments: [
      {
        name: "FILE",
        required: true,
        names: "file",
        help: 'A file that ends with ".calls", or - for stdin.',
      },
    ],
    flags: [
      {
        name: "format",
        kind: "text",
        value: "FORMAT",
        choices: ["text", "mermaid", "svg"],
        default: "text",
        help: "text for the terminal, mermaid for Markdown, svg for a page.",
      },
      output,
      help,
    ],
    notes: [
      "Blocks that cannot be read, dependencies that are never called and cycles are in the picture and, with their lines, on stderr. " +
      "The exit code is 0 all the same: the picture is what was asked for.",
    ],
    examples: [{
      line: "orrery graph release.calls --format svg -o release.svg",
      does: "a picture for a page",
    }],
  },
  schema: {
    name: "schema",
    summary: "Prints the JSON Schema of a kind of file.",
    arguments: [{ name: "KIND", required: true, choices: ["config"], help: "config: orrery.yaml." }],
    flags: [output, help],
    notes: [],
    examples: [{ line: "orrery schema config -o orrery.schema.json", does: "for an editor" }],
  },
  completions: {
    name: "completions",
    summary: "Prints a script that completes commands, flags and names in a shell.",
    arguments: [
      {
        name: "SHELL",
        required: true,
        choices: ["bash", "zsh", "fish", "powershell"],
        help: "Whose script.",
      },
    ],
    flags: [help],
    notes: [],
    examples: [
      { line: "source <(orrery completions bash)", does: "bash, this session" },
      { line: "orrery completions fish > ~/.config/fish/completions/orrery.fish", does: "fish, for good" },
    ],
  },
  help: {
    name: "help",
    summary: "Shows the commands, or the help of one.",
    arguments: [{ name: "COMMAND", required: false, names: "command", help: "Which one." }],
    flags: [help],
    notes: [],
    examples: [],
  },
} as const satisfies { readonly [name: string]: CommandSpec };

/** The name of a command. */
export type CommandName = keyof typeof COMMANDS;

/** Whether a word is the name of a command. */
export function isCommandName(word: string): word is CommandName {
  return Object.hasOwn(COMMANDS, word);
}

/** What the flags of a command were set to; a flag that was not typed is `false`, `undefined` or an empty list. */
export type FlagValues<Flags extends readonly Flag[]> = {
  readonly [F in Flags[number] as F["name"]]: FlagValue<F["kind"]>;
};

type FlagValue<Kind extends FlagKind> = Kind extends "switch" ? boolean
  : Kind extends "text" ? string | undefined
  : Kind extends "count" | "seconds" ? number | undefined
  : Kind extends "list" | "texts" ? readonly string[]
  : readonly (string | true)[];

/** A command line that was understood. */
export interface ParsedCommand<Spec extends CommandSpec> {
  readonly words: readonly string[];
  readonly flags: FlagValues<Spec["flags"]>;
  /** `--help` was among the words; nothing else was looked at. */
  readonly wantsHelp: boolean;
}
