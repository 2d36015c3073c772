// Flags that several commands have.

import type { CommandSpec, Flag } from "./flag.ts";

/** Every command has it. */
export const help = { name: "help", short: "h", kind: "switch", help: "Shows this." } as const satisfies Flag;

/** For programs. */
export const json = {
  name: "json",
  kind: "switch",
  help: "One JSON value on stdout.",
} as const satisfies Flag;

/** Into a file. */
export const output = {
  name: "output",
  short: "o",
  kind: "text",
  value: "FILE",
  names: "file",
  help: "Writes the result to FILE, whole or not at all; needs no --allow-write.",
} as const satisfies Flag;

/** For programs that follow a run. */
export const jsonl = {
  name: "jsonl",
  kind: "switch",
  help: "Every event as one line of JSON on stdout, as it happens.",
} as const satisfies Flag;

/** For scripts. */
export const quiet = {
  name: "quiet",
  short: "q",
  kind: "switch",
  help: "Only errors on stderr; nobody is asked anything.",
} as const satisfies Flag;

/** Where the result of a run goes. */
export const outputFlags = [json, jsonl, output, quiet] as const satisfies readonly Flag[];

const RUN_AGENT = "is for conversations with an agent: orrery run NAME.agent.yml";
const CHAT_AGENT = "is for conversations with an agent: orrery chat NAME.agent.yml";

const ONLY_AGENTS = {
  calls: RUN_AGENT,
  prompt: RUN_AGENT,
  document: RUN_AGENT,
  talk: CHAT_AGENT,
  "--profile": CHAT_AGENT,
} as const;

const ONLY_PROMPTS = {
  calls: "is for prompts; a call file takes none",
  agent: "is for prompts; an agent takes slots: --slot NAME=VALUE",
  question: "gives values to a prompt: name it with --prompt PATH",
  talk: "gives values to a prompt: name it with --profile NAME",
} as const;

const ONLY_DOCUMENTS = {
  calls: "is for documents; a call file takes none",
  prompt: "is for documents; a prompt takes none",
  agent: "is for documents; an agent takes none",
} as const;

/** A record is of one run from its beginning, and a conversation is gone on with for days: its tests are files, and its journal has every turn. */
const NO_CONVERSATIONS = {
  agent: "is not for conversations: orrery trace shows what happened, orrery fork --turn goes back",
} as const;

/** Of a flag that says what the prompt says itself. */
export function bothSay(what: string): NonNullable<Flag["not"]> {
  return { "--prompt": `and --prompt cannot both ${what}`, "--profile": `and --profile cannot both ${what}` };
}

const OF_AGENT_FILE = "is not for an agent file, which says it itself";

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
    not: NO_CONVERSATIONS,
  },
  {
    name: "replay",
    kind: "text",
    value: "FILE",
    names: "file",
    help:
      "Answers every effect from the record in FILE and touches nothing; ends with the difference when the run is another one.",
    not: NO_CONVERSATIONS,
  },
] as const satisfies readonly Flag[];

/** Of calls. */
export const concurrency = {
  name: "concurrency",
  kind: "count",
  value: "N",
  default: "16",
  help: "How many calls may run at once.",
} as const satisfies Flag;

/** Of one call. */
export const timeout = {
  name: "timeout",
  kind: "seconds",
  value: "SECONDS",
  default: "60",
  help: "How long one call may take, unless its gadget says otherwise.",
} as const satisfies Flag;

/** Which model is asked. */
export const model = {
  name: "model",
  short: "m",
  kind: "text",
  value: "MODEL",
  names: "model",
  default: "ORRERY_MODEL, then models.default of orrery.yaml",
  help: "The model: provider/model, or an alias of models.aliases.",
} as const satisfies Flag;

/** What a run may use up. */
export const budget = {
  name: "budget",
  kind: "list",
  value: "tokens=N,cost=N,time=N,turns=N",
  help:
    "Ends the run before a model call that goes beyond: tokens of all calls, US dollars, seconds, model calls. The exit code is 6; of a call " +
    "file, whose call then fails, 1.",
} as const satisfies Flag;

/** What a prompt is given. */
export const promptFlags = [
  {
    name: "input",
    short: "i",
    kind: "texts",
    value: "NAME=VALUE",
    help:
      "A value of the prompt, as text; NAME=@FILE is the text of a file, - a JSON object on stdin. Numbers and the like: --input-json. May be " +
      "repeated: of the same name the last one counts.",
    not: ONLY_PROMPTS,
  },
  {
    name: "input-json",
    kind: "text",
    value: "JSON",
    help: "Values of the prompt as a JSON object, or @FILE for one.",
    not: ONLY_PROMPTS,
  },
] as const satisfies readonly Flag[];

/** What a document is given, and where its result document goes (documents.md 1.1). */
export const documentFlags = [
  {
    name: "prompt",
    kind: "text",
    value: "TEXT",
    help: "Of a document: what it is asked, put before its first block.",
    not: ONLY_DOCUMENTS,
  },
  {
    name: "block",
    kind: "texts",
    value: "FILE#REF",
    help: "Of a document: a block of another file, put before its first block. May be repeated.",
    not: ONLY_DOCUMENTS,
  },
  {
    name: "mode",
    kind: "text",
    value: "MODE",
    choices: ["append", "prepend", "replace"],
    help: "Of a document: how results are merged where an operation does not say it.",
    not: ONLY_DOCUMENTS,
  },
  {
    name: "out",
    kind: "text",
    value: "FILE",
    names: "file",
    default: "beside the document, with the ending .ctx",
    help: "Of a document: where its result document goes; - is stdout, none is nowhere.",
    not: ONLY_DOCUMENTS,
  },
  {
    name: "show-operations",
    kind: "switch",
    help: "Of a document: models see its operations too.",
    not: ONLY_DOCUMENTS,
  },
  {
    name: "watch",
    kind: "switch",
    help:
      "Of a document: runs it again when it or a file that it read (imports, callees, media, schemas) changes, until Ctrl-C. What was done with " +
      "the same input is not done again: a model's answer to the same question, a tool's result, a command whose text, folder, variables " +
      "and time limit did not change.",
    not: ONLY_DOCUMENTS,
  },
] as const satisfies readonly Flag[];

/** Who is asked. */
export const profile = {
  name: "profile",
  kind: "text",
  value: "NAME",
  names: "profile",
  help: "The profile that is asked, an entry of agents: in orrery.yaml: its model, system prompt and limits.",
  not: {
    calls: "is for prompts; a call file takes none",
    document: "is for prompts; a document names its models itself, or takes --model",
    agent: "is for prompts; a step of an agent names its model, or --model does",
  },
} as const satisfies Flag;

/** Which model is asked, and how. */
export const modelFlags = [
  model,
  {
    name: "tools",
    kind: "list",
    value: "GADGET,...",
    names: "gadget",
    help: "Gadgets that the model may call; SERVER__* stands for all of an MCP server. May be repeated.",
    not: {
      agent: OF_AGENT_FILE,
      ...bothSay("say what the model may call: the prompt names its tools itself"),
    },
  },
  {
    name: "system",
    kind: "text",
    value: "TEXT",
    help: "What the model is told before everything else.",
    not: {
      agent: OF_AGENT_FILE,
      "--prompt": "and --prompt cannot both be the system text: that of --prompt is a prompt",
      "--profile": "and --profile cannot both be the system text: that of --profile is a prompt",
    },
  },
  {
    name: "tools-mode",
    kind: "text",
    value: "MODE",
    choices: ["blocks", "native"],
    default: "blocks",
    help: "How the model calls gadgets: by blocks in its text, or by the calls of its provider.",
    not: {
      agent: OF_AGENT_FILE,
      "--prompt": "is not for --prompt: the tools of a prompt are called by the calls of the provider",
      "--profile": "is not for --profile: the tools of a prompt are called by the calls of the provider",
    },
  },
  budget,
  {
    name: "temperature",
    kind: "number",
    value: "N",
    help: "How freely the model chooses its words. Default: the provider's.",
    not: { agent: OF_AGENT_FILE },
  },
] as const satisfies readonly Flag[];

/** How a conversation with an agent is held (conversations.md). */
export const conversationFlags = [
  {
    name: "user",
    kind: "text",
    value: "NAME",
    default: "local",
    help: "Of a conversation: with whom. Its global slots are kept for this user.",
    not: ONLY_AGENTS,
  },
  {
    name: "module",
    kind: "text",
    value: "NAME|FILE",
    default: "default",
    names: "file",
    help:
      "Of a conversation: the module whose slots it has; a file that ends with .module.yml says what it consists of.",
    not: ONLY_AGENTS,
  },
  {
    name: "session",
    kind: "text",
    value: "NAME",
    default: "the id of the agent",
    help: "Of a conversation: the session of the module whose slots it has.",
    not: ONLY_AGENTS,
  },
  {
    name: "context",
    kind: "text",
    value: "FILE",
    names: "file",
    help:
      "Of a conversation: what its preloaded slots come from, as YAML or JSON: user, module, session, user-config, user-context-log.",
    not: ONLY_AGENTS,
  },
  {
    name: "collection",
    kind: "text",
    value: "FILE",
    names: "file",
    default: "conversations.collection of orrery.yaml",
    help: "Of a conversation: the .collection.yml file whose documents its retrievers search.",
    not: ONLY_AGENTS,
  },
  {
    name: "slot",
    kind: "texts",
    value: "NAME=VALUE",
    help:
      "Of a conversation: a slot that is set before its first step, as text; session.NAME, module.NAME and global.NAME outlive it. May be repeated.",
    not: ONLY_AGENTS,
  },
] as const satisfies readonly Flag[];

/** Of what a project says for itself. */
export const trustProject = {
  name: "trust-project",
  kind: "switch",
  help:
    "Lets what orrery.yaml, .mcp.json and orrery.lock themselves ask for count, this time and from now on until it changes.",
} as const satisfies Flag;

/** What else belongs to the project, and what of it counts. */
export const catalogFlags = [
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
      "Lets these gadgets of modules do what they ask for, and starts these MCP servers, this time. May be repeated.",
  },
  {
    name: "allow-gadget",
    kind: "texts",
    value: "NAME=KIND:VALUE,...",
    help:
      "Lets one gadget of a module do this and no more: NAME=net:example.com, or NAME=net for all of a kind; read, write, net, run, env, sys. " +
      "May be repeated.",
  },
  {
    name: "frozen",
    kind: "switch",
    help: "Makes it an error when a gadget is not as orrery.lock has it; nobody is asked.",
  },
  trustProject,
  {
    name: "trust-code",
    kind: "switch",
    help: "Loads the TypeScript modules of the project's prompts and tactics, this time.",
  },
] as const satisfies readonly Flag[];

/** A note of every command that runs something. */
export const ASKED_AT_TERMINAL =
  "What no flag allows is asked about where somebody is at the terminal; elsewhere, and with --quiet, it is refused and the flag named.";

/** What a run may do. */
export const permissionFlags = [
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

/** How calls run, what is kept of them, and what they may do: of every command that runs some. Last in its help. */
export const callFlags = [
  concurrency,
  timeout,
  ...keepFlags,
  ...catalogFlags,
  ...permissionFlags,
  help,
] as const satisfies readonly Flag[];

/** `orrery run`: apart from the other commands, because how fast it starts counts. */
export const RUN = {
  name: "run",
  summary: "Runs calls from a file or stdin, a document, an agent, or a prompt.",
  arguments: [
    {
      name: "FILE|PROMPT",
      required: true,
      unless: "replay",
      names: "file-or-prompt",
      help:
        'A file that ends with ".calls", a document that ends with ".md", an agent that ends with ".agent.yml", - for calls on stdin, or the path of a ' +
        "prompt or a tactic of the project. With --replay it may be left out.",
    },
  ],
  flags: [
    ...promptFlags,
    model,
    profile,
    budget,
    {
      name: "say",
      kind: "texts",
      value: "TEXT",
      help:
        "Of a conversation: a message to the agent. May be repeated: each is said when the agent waits for one.",
      not: ONLY_AGENTS,
    },
    ...conversationFlags,
    ...documentFlags,
    ...outputFlags,
    ...callFlags,
  ],
  notes: [
    "A call starts the moment the calls it depends on are done, also while the rest is still being written.",
    "The result goes to stdout: text as it is, everything else as JSON; progress and errors go to stderr. Several results are one " +
    "JSON object by id. A file without calls is no error: it has no result, and a notice says so.",
    "A prompt gives what its answer means by its contract, as JSON; text where it has none. --input gives its variables their values; of a " +
    "tactic, --input task=TEXT is what it is asked, and several are one object.",
    "Values are looked at before anything is asked: a name of --input that the prompt does not have is an error, and text for a *.prompt file " +
    "is read as its input.schema wants it (5, true). A JSON object may hold more than the prompt takes.",
    "Of a call file --model is the model of the prompts that it calls by RunPrompt and that name none themselves, and --budget holds for all " +
    "of them.",
    ASKED_AT_TERMINAL,
    "Exit codes of a call file: 0 every call gave a result, 5 a call was refused, 1 a call failed for any other reason, such as a budget.",
    "Exit codes of a prompt: 0 answered, 1 failed, 4 no answer kept to the contract, 5 a permission was refused, 6 the budget is used up, 7 the " +
    "provider or the network, 124 the provider was silent for too long.",
    "A document is checked whole before anything of it runs. What it gives goes to stdout: what it returns, else the last answer of a model; " +
    "the document with its results goes beside it, as .ctx, or where --out says.",
    "Exit codes of a document: 0 done, 1 an operation failed, 6 the budget is used up, 124 the time of the run is over.",
    "An agent begins a conversation, up to where it waits for a message: --say says one. What it says goes to stdout, messages divided by an empty " +
    "line. The conversation is kept: orrery resume goes on with it, orrery chat talks with an agent in the terminal.",
    "Exit codes of an agent: 0 it waits for a message or has come to its end, 1 a step failed, 5 a permission was refused, 6 the budget is used up, 7 the provider " +
    "or the network.",
    "Exit codes of all: 2 usage, configuration or something else that was found before anything ran, 130 interrupted.",
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
    { line: "orrery run plan.md --allow-run", does: "runs a document, which may run commands" },
    { line: "orrery run review/code --input file=@main.ts", does: "asks a prompt of the project" },
    { line: 'orrery run support.agent.yml --say "hello"', does: "begins a conversation and says something" },
  ],
} as const satisfies CommandSpec;
