// The one table of the command line: parsing, --help, completions and the command reference all read it.

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
}

/** A word of a command that is no flag. */
export interface Argument {
  readonly name: string;
  readonly help: string;
  readonly required: boolean;
  /** The last word may be given several times. */
  readonly many?: boolean;
  readonly choices?: readonly string[];
  /** `shown`: what the word before it says. */
  readonly names?: "file" | "file-or-prompt" | "command" | "run" | "shown";
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

const jsonl = {
  name: "jsonl",
  kind: "switch",
  help: "Every event as one line of JSON on stdout, as it happens.",
} as const satisfies Flag;

const quiet = {
  name: "quiet",
  short: "q",
  kind: "switch",
  help: "Only errors on stderr; nobody is asked anything.",
} as const satisfies Flag;

/** Where the result of a run goes. */
const outputFlags = [json, jsonl, output, quiet] as const satisfies readonly Flag[];

/** What is kept of a run. */
const keepFlags = [
  {
    name: "ephemeral",
    kind: "switch",
    help: "Keeps nothing of the run: it cannot be resumed.",
  },
  {
    name: "record",
    kind: "text",
    value: "FILE",
    names: "file",
    help: "Writes everything that comes into the run from outside, and every event, to FILE.",
  },
  {
    name: "replay",
    kind: "text",
    value: "FILE",
    names: "file",
    help:
      "Answers every effect from the record in FILE and touches nothing; ends with the difference when the run is another one.",
  },
] as const satisfies readonly Flag[];

const concurrency = {
  name: "concurrency",
  kind: "count",
  value: "N",
  default: "16",
  help: "How many calls may run at once.",
} as const satisfies Flag;

const timeout = {
  name: "timeout",
  kind: "seconds",
  value: "SECONDS",
  default: "60",
  help: "How long one call may take, unless its gadget says otherwise.",
} as const satisfies Flag;

const model = {
  name: "model",
  short: "m",
  kind: "text",
  value: "MODEL",
  names: "model",
  default: "ORRERY_MODEL, then models.default of orrery.yaml",
  help: "The model: provider/model, or an alias of models.aliases.",
} as const satisfies Flag;

const budget = {
  name: "budget",
  kind: "list",
  value: "tokens=N,cost=N,time=N,turns=N",
  help:
    "Ends the run, with exit code 6, before a model call that goes beyond: tokens of all calls, US dollars, seconds, model calls.",
} as const satisfies Flag;

/** What a prompt is given. */
const promptFlags = [
  {
    name: "input",
    short: "i",
    kind: "texts",
    value: "NAME=VALUE",
    help:
      "A value of the prompt, as text; NAME=@FILE is the text of a file, - a JSON object on stdin. Numbers and the like: --input-json. May be " +
      "repeated.",
  },
  {
    name: "input-json",
    kind: "text",
    value: "JSON",
    help: "Values of the prompt as a JSON object, or @FILE for one.",
  },
] as const satisfies readonly Flag[];

const profile = {
  name: "profile",
  kind: "text",
  value: "NAME",
  names: "profile",
  help: "The agent of orrery.yaml (agents:) that is asked: its model, system prompt and limits.",
} as const satisfies Flag;

/** Which model is asked, and how. */
const modelFlags = [
  model,
  {
    name: "tools",
    kind: "list",
    value: "GADGET,...",
    names: "gadget",
    help: "Gadgets that the model may call; SERVER__* stands for all of an MCP server. May be repeated.",
  },
  { name: "system", kind: "text", value: "TEXT", help: "What the model is told before everything else." },
  {
    name: "tools-mode",
    kind: "text",
    value: "MODE",
    choices: ["blocks", "native"],
    default: "blocks",
    help: "How the model calls gadgets: by blocks in its text, or by the calls of its provider.",
  },
  budget,
  {
    name: "temperature",
    kind: "number",
    value: "N",
    help: "How freely the model chooses its words. Default: the provider's.",
  },
] as const satisfies readonly Flag[];

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
    help:
      "Loads the modules of these gadgets, which nothing else does, and starts these MCP servers. May be repeated.",
  },
  {
    name: "trust-project",
    kind: "switch",
    help:
      "Lets what orrery.yaml and .mcp.json themselves ask for count, this time and from now on until it changes.",
  },
  {
    name: "trust-code",
    kind: "switch",
    help: "Loads the TypeScript modules of the project's prompts and tactics, this time.",
  },
] as const satisfies readonly Flag[];

const ASKED_AT_TERMINAL =
  "What no flag allows is asked about where somebody is at the terminal; elsewhere, and with --quiet, it is refused and the flag named.";

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
    summary: "Runs the calls of a file, or of stdin, as a graph; or a prompt.",
    arguments: [
      {
        name: "FILE|PROMPT",
        required: true,
        names: "file-or-prompt",
        help:
          'A file that ends with ".calls", - for stdin, or the path of a prompt or a tactic of the project.',
      },
    ],
    flags: [
      ...promptFlags,
      model,
      profile,
      budget,
      ...outputFlags,
      concurrency,
      timeout,
      ...keepFlags,
      ...catalogFlags,
      ...permissionFlags,
      help,
    ],
    notes: [
      "A call starts the moment the calls it depends on are done, also while the rest is still being written.",
      "The result goes to stdout: text as it is, everything else as JSON; progress and errors go to stderr. Several results are one " +
      "JSON object by id. A file without calls is no error: it has no result, and a notice says so.",
      "A prompt gives what its answer means by its contract, as JSON; text where it has none. --input gives its variables their values; of a " +
      "tactic, --input task=TEXT is what it is asked, and several are one object.",
      ASKED_AT_TERMINAL,
      "Exit codes: 0 every call gave a result, 1 one did not, 2 usage or configuration, 4 no answer kept to the contract, 5 a permission was " +
      "refused, 6 a budget, 7 the provider, 130 interrupted.",
      "Ctrl-C once ends the run in order; twice ends it at once. Either way it is kept in .orrery/orrery.db of the project and orrery resume " +
      "goes on with it.",
    ],
    examples: [
      { line: "orrery run release.calls", does: "runs a file" },
      { line: "model | orrery run -", does: "runs calls while they are being written" },
      {
        line: "orrery run report.calls --allow-write=out -o report.md",
        does: "lets it write to out/, keeps the result",
      },
      { line: "orrery run review/code --input file=@main.ts", does: "asks a prompt of the project" },
    ],
  },
  ask: {
    name: "ask",
    summary: "Asks a model one question.",
    arguments: [
      {
        name: "TEXT",
        required: false,
        many: true,
        help: "The question; several words are joined. It may be left out when stdin is a pipe.",
      },
    ],
    flags: [
      ...modelFlags,
      {
        name: "prompt",
        kind: "text",
        value: "PATH",
        names: "prompt",
        help: "A prompt of the project as the system text: its tools and what its answer has to be hold.",
      },
      ...promptFlags,
      profile,
      {
        name: "schema",
        kind: "text",
        value: "FILE",
        names: "file",
        help: "A JSON Schema that the answer has to fit; then it is printed as JSON.",
      },
      ...outputFlags,
      concurrency,
      timeout,
      ...keepFlags,
      ...catalogFlags,
      ...permissionFlags,
      help,
    ],
    notes: [
      "A pipe on stdin is context: its text stands behind the question, between <stdin> and </stdin>. It is UTF-8 text of at most 10 MB.",
      "The answer streams to stdout. With --tools or --schema stdout gets the final answer alone, and what the model says on the way goes to " +
      "stderr.",
      "With --prompt or --profile it is the prompt that says which tools there are and what the answer has to be: --schema, --system, --tools " +
      "and --tools-mode are errors then, and the result is that of orrery run PROMPT. --input gives the prompt's variables their values.",
      ASKED_AT_TERMINAL,
      "Exit codes: 0 answered, 2 usage, configuration or no model, 4 the answer does not fit the schema or the prompt (its text is on stdout all the same), 5 a permission " +
      "was refused, 6 the budget is used up, 7 the provider or the network, 124 the provider was silent for too long, 130 interrupted.",
    ],
    examples: [
      { line: 'git diff | orrery ask "Write a commit message"', does: "a pipe as context" },
      {
        line: 'orrery ask "What is in this folder?" --tools ListFolder,ReadFile',
        does: "lets the model look",
      },
      {
        line: 'orrery ask "Is this safe?" --prompt review/code --input language=SQL < query.sql',
        does: "with a prompt of the project",
      },
      { line: 'orrery ask "Hello" -m script/echo', does: "without a provider" },
    ],
  },
  chat: {
    name: "chat",
    summary: "Talks with a model or an agent in the terminal, or through a pipe.",
    arguments: [],
    flags: [
      ...modelFlags,
      profile,
      ...promptFlags,
      jsonl,
      quiet,
      concurrency,
      timeout,
      ...keepFlags,
      ...catalogFlags,
      ...permissionFlags,
      help,
    ],
    notes: [
      'In the terminal a line is a message; a line that ends with \\ goes on in the next one, and """ alone begins and ends a message of several lines. ' +
      "/help shows what else there is, /quit or Ctrl-D ends.",
      "With --profile an agent of orrery.yaml answers, with its model, system prompt, tools and limits; --input gives the variables of its system " +
      "prompt their values. --system, --tools and --tools-mode are errors then.",
      ASKED_AT_TERMINAL,
      "Ctrl-C stops the answer; once more ends the conversation. orrery resume goes on with it.",
      "Through a pipe each line of stdin is a message, and each answer is text on stdout.",
    ],
    examples: [
      { line: "orrery chat -m script/echo", does: "without a provider" },
      { line: "orrery chat --profile researcher --input topic=heat", does: "with an agent of orrery.yaml" },
    ],
  },
  runs: {
    name: "runs",
    summary: "Lists the runs that are kept, the newest first.",
    arguments: [],
    flags: [
      { name: "all", kind: "switch", help: "Every run, not the last 20 only." },
      json,
      { name: "names", kind: "switch", help: "Only the ids, one a line." },
      help,
    ],
    notes: [],
    examples: [],
  },
  resume: {
    name: "resume",
    summary: "Goes on with a run or a conversation.",
    arguments: [{
      name: "ID",
      required: false,
      names: "run",
      help: "The run, or the beginning of its id; without it the newest that can go on.",
    }],
    flags: [
      {
        name: "rerun",
        kind: "texts",
        value: "KEY|all",
        help: "Does this step again, whose end is not known. May be repeated.",
      },
      {
        name: "skip",
        kind: "texts",
        value: "KEY|all",
        help: "Takes this step as done, with the result null. May be repeated.",
      },
      ...outputFlags,
      ...catalogFlags,
      ...permissionFlags,
      help,
    ],
    notes: [
      "What was done is not done again, and a model is not asked again what it has answered. The files are those the run began with.",
      "A step that may not be done twice and whose end is not known is asked about on a terminal; elsewhere nothing runs until --rerun or --skip says " +
      "what to do.",
      "Permissions that the run was given are kept among your own files and hold again; more can be added.",
    ],
    examples: [{ line: "orrery resume", does: "the newest run that can go on" }],
  },
  trace: {
    name: "trace",
    summary: "Shows what a run did, step by step.",
    arguments: [{ name: "ID", required: true, names: "run", help: "The run, or the beginning of its id." }],
    flags: [json, help],
    notes: [],
    examples: [],
  },
  fork: {
    name: "fork",
    summary: "Makes a new run of the steps of another one.",
    arguments: [{ name: "ID", required: true, names: "run", help: "The run, or the beginning of its id." }],
    flags: [
      {
        name: "from",
        kind: "text",
        value: "KEY",
        help: "The step, as orrery trace names it: it and what came after it are done anew.",
      },
      help,
    ],
    notes: ["The id of the new run is printed; orrery resume ID goes on with it."],
    examples: [],
  },
  rm: {
    name: "rm",
    summary: "Removes runs.",
    arguments: [{
      name: "ID",
      required: true,
      many: true,
      names: "run",
      help: "The runs, or the beginnings of their ids.",
    }],
    flags: [help],
    notes: [],
    examples: [],
  },
  list: {
    name: "list",
    summary: "Lists gadgets, prompts, profiles, models, or the runs that are kept.",
    arguments: [{
      name: "KIND",
      required: false,
      choices: ["gadgets", "prompts", "profiles", "models", "runs"],
      help: "What to list; gadgets, and what prompts and profiles the project has, without it.",
    }],
    flags: [
      json,
      { name: "names", kind: "switch", help: "Only the names, one a line." },
      {
        name: "write-types",
        kind: "grant",
        value: "PATH",
        default: "prompts.gen.ts beside orrery.yaml",
        help:
          "Of prompts: writes a module with the type of each, and with imports of their modules for a compiled program.",
      },
      ...catalogFlags,
      help,
    ],
    notes: [
      "The tactics of the project are listed with its prompts: orrery run takes both.",
      "What is wrong with a file is told on stderr, with its line; the exit code is 0 all the same. --write-types writes nothing then, " +
      "and the exit code is 2.",
    ],
    examples: [
      { line: "orrery list gadgets --json", does: "the same for a program" },
      {
        line: "orrery list prompts --write-types --trust-code",
        does: "types for the code that uses the prompts",
      },
    ],
  },
  show: {
    name: "show",
    summary: "Shows everything about one gadget, prompt or profile, or all settings.",
    arguments: [
      {
        name: "KIND",
        required: true,
        choices: ["gadget", "prompt", "profile", "config"],
        help: "What to show.",
      },
      {
        name: "NAME",
        required: false,
        names: "shown",
        help: "The name of the gadget or the profile, or the path of the prompt.",
      },
    ],
    flags: [...promptFlags, json, modelFlags[0], concurrency, timeout, ...catalogFlags, help],
    notes: [
      "A prompt is shown as it is sent when --input gives all its variables a value, else as its template.",
      "Keys, and values that may hold one, are never shown.",
    ],
    examples: [
      { line: "orrery show prompt review/code -i file=@main.ts", does: "what a model would be asked" },
      { line: "orrery show gadget ReadFile", does: "what it takes, needs and gives, with a call to copy" },
      { line: "orrery show config", does: "which setting holds, and why" },
    ],
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
