// Flags that several commands have.

import { type CommandSpec, type Flag, flag, toggle } from "./flag.ts";

/** Every command has it. */
export const help = toggle("help", "Shows this.", { short: "h" });

/** For programs. */
export const json = toggle("json", "One JSON value on stdout.");

/** Into a file. */
export const output = flag(
  "output",
  "text",
  "FILE",
  "Writes the result to FILE, whole or not at all; needs no --allow-write.",
  { short: "o", names: "file" },
);

/** For programs that follow a run. */
export const jsonl = toggle("jsonl", "Every event as one line of JSON on stdout, as it happens.");

/** For scripts. */
export const quiet = toggle("quiet", "Only errors on stderr; nobody is asked anything.", { short: "q" });

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
  toggle("ephemeral", "Keeps nothing of the run: it cannot be resumed."),
  flag(
    "record",
    "text",
    "FILE",
    "Writes everything that comes into the run from outside, and every event, to FILE.",
    { names: "file", not: NO_CONVERSATIONS },
  ),
  flag(
    "replay",
    "text",
    "FILE",
    "Answers every effect from the record in FILE and touches nothing; ends with the difference when the run is another one.",
    { names: "file", not: NO_CONVERSATIONS },
  ),
] as const satisfies readonly Flag[];

/** Of calls. */
export const concurrency = flag("concurrency", "count", "N", "How many calls may run at once.", {
  default: "16",
});

/** Of one call. */
export const timeout = flag(
  "timeout",
  "seconds",
  "SECONDS",
  "How long one call may take, unless its gadget says otherwise.",
  { default: "60" },
);

/** Which model is asked. */
export const model = flag(
  "model",
  "text",
  "MODEL",
  "The model: provider/model, or an alias of models.aliases.",
  { short: "m", names: "model", default: "ORRERY_MODEL, then models.default of orrery.yaml" },
);

/** What a run may use up. */
export const budget = flag(
  "budget",
  "list",
  "tokens=N,cost=N,time=N,turns=N",
  "Ends the run before a model call that goes beyond: tokens of all calls, US dollars, seconds, model calls. The exit code is 6; of a call " +
    "file, whose call then fails, 1.",
);

/** What a prompt is given. */
export const promptFlags = [
  flag(
    "input",
    "texts",
    "NAME=VALUE",
    "A value of the prompt, as text; NAME=@FILE is the text of a file, - a JSON object on stdin. Numbers and the like: --input-json. May be " +
      "repeated: of the same name the last one counts.",
    { short: "i", not: ONLY_PROMPTS },
  ),
  flag("input-json", "text", "JSON", "Values of the prompt as a JSON object, or @FILE for one.", {
    not: ONLY_PROMPTS,
  }),
] as const satisfies readonly Flag[];

/** What a document is given, and where its result document goes (documents.md 1.1). */
export const documentFlags = [
  flag("prompt", "text", "TEXT", "Of a document: what it is asked, put before its first block.", {
    not: ONLY_DOCUMENTS,
  }),
  flag(
    "block",
    "texts",
    "FILE#REF",
    "Of a document: a block of another file, put before its first block. May be repeated.",
    { not: ONLY_DOCUMENTS },
  ),
  flag("mode", "text", "MODE", "Of a document: how results are merged where an operation does not say it.", {
    choices: ["append", "prepend", "replace"],
    not: ONLY_DOCUMENTS,
  }),
  flag(
    "out",
    "text",
    "FILE",
    "Of a document: where its result document goes; - is stdout, none is nowhere.",
    { names: "file", default: "beside the document, with the ending .ctx", not: ONLY_DOCUMENTS },
  ),
  toggle("show-operations", "Of a document: models see its operations too.", { not: ONLY_DOCUMENTS }),
  toggle(
    "watch",
    "Of a document: runs it again when it or a file that it read (imports, callees, media, schemas) changes, until Ctrl-C. What was done with " +
      "the same input is not done again: a model's answer to the same question, a tool's result, a command whose text, folder, variables " +
      "and time limit did not change.",
    { not: ONLY_DOCUMENTS },
  ),
] as const satisfies readonly Flag[];

/** Who is asked. */
export const profile = flag(
  "profile",
  "text",
  "NAME",
  "The profile that is asked, an entry of agents: in orrery.yaml: its model, system prompt and limits.",
  {
    names: "profile",
    not: {
      calls: "is for prompts; a call file takes none",
      document: "is for prompts; a document names its models itself, or takes --model",
      agent: "is for prompts; a step of an agent names its model, or --model does",
    },
  },
);

/** Which model is asked, and how. */
export const modelFlags = [
  model,
  flag(
    "tools",
    "list",
    "GADGET,...",
    "Gadgets that the model may call; SERVER__* stands for all of an MCP server. May be repeated.",
    {
      names: "gadget",
      not: {
        agent: OF_AGENT_FILE,
        ...bothSay("say what the model may call: the prompt names its tools itself"),
      },
    },
  ),
  flag("system", "text", "TEXT", "What the model is told before everything else.", {
    not: {
      agent: OF_AGENT_FILE,
      "--prompt": "and --prompt cannot both be the system text: that of --prompt is a prompt",
      "--profile": "and --profile cannot both be the system text: that of --profile is a prompt",
    },
  }),
  flag(
    "tools-mode",
    "text",
    "MODE",
    "How the model calls gadgets: by blocks in its text, or by the calls of its provider.",
    {
      choices: ["blocks", "native"],
      default: "blocks",
      not: {
        agent: OF_AGENT_FILE,
        "--prompt": "is not for --prompt: the tools of a prompt are called by the calls of the provider",
        "--profile": "is not for --profile: the tools of a prompt are called by the calls of the provider",
      },
    },
  ),
  budget,
  flag("temperature", "number", "N", "How freely the model chooses its words. Default: the provider's.", {
    not: { agent: OF_AGENT_FILE },
  }),
] as const satisfies readonly Flag[];

/** How a conversation with an agent is held (conversations.md). */
export const conversationFlags = [
  flag("user", "text", "NAME", "Of a conversation: with whom. Its global slots are kept for this user.", {
    default: "local",
    not: ONLY_AGENTS,
  }),
  flag(
    "module",
    "text",
    "NAME|FILE",
    "Of a conversation: the module whose slots it has; a file that ends with .module.yml says what it consists of.",
    { default: "default", names: "file", not: ONLY_AGENTS },
  ),
  flag("session", "text", "NAME", "Of a conversation: the session of the module whose slots it has.", {
    default: "the id of the agent",
    not: ONLY_AGENTS,
  }),
  flag(
    "context",
    "text",
    "FILE",
    "Of a conversation: what its preloaded slots come from, as YAML or JSON: user, module, session, user-config, user-context-log.",
    { names: "file", not: ONLY_AGENTS },
  ),
  flag(
    "collection",
    "text",
    "FILE",
    "Of a conversation: the .collection.yml file whose documents its retrievers search.",
    { names: "file", default: "conversations.collection of orrery.yaml", not: ONLY_AGENTS },
  ),
  flag(
    "slot",
    "texts",
    "NAME=VALUE",
    "Of a conversation: a slot that is set before its first step, as text; session.NAME, module.NAME and global.NAME outlive it. May be repeated.",
    { not: ONLY_AGENTS },
  ),
] as const satisfies readonly Flag[];

/** Of what a project says for itself. */
export const trustProject = toggle(
  "trust-project",
  "Lets what orrery.yaml, .mcp.json and orrery.lock themselves ask for count, this time and from now on until it changes.",
);

/** What else belongs to the project, and what of it counts. */
export const catalogFlags = [
  flag("gadget", "texts", "FILE", "Adds the gadget of a module. May be repeated.", { names: "file" }),
  flag(
    "trust",
    "list",
    "NAME,...",
    "Lets these gadgets of modules do what they ask for, and starts these MCP servers, this time. May be repeated.",
    { names: "gadget" },
  ),
  flag(
    "allow-gadget",
    "texts",
    "NAME=KIND:VALUE,...",
    "Lets one gadget of a module do this and no more: NAME=net:example.com, or NAME=net for all of a kind; read, write, net, run, env, sys. " +
      "May be repeated.",
  ),
  toggle("frozen", "Makes it an error when a gadget is not as orrery.lock has it; nobody is asked."),
  trustProject,
  toggle("trust-code", "Loads the TypeScript modules of the project's prompts and tactics, this time."),
] as const satisfies readonly Flag[];

/** What a run may do. */
export const permissionFlags = [
  flag("allow-read", "grant", "PATH,...", "Files that may be read; without a list all.", {
    default: "the project root",
  }),
  flag("allow-write", "grant", "PATH,...", "Files that may be written; without a list all.", {
    default: ".orrery/ of the project root",
  }),
  flag(
    "allow-net",
    "grant",
    "HOST,...",
    "Hosts (HOST or HOST:PORT) that may be reached; without a list all but private addresses.",
    { default: "nothing" },
  ),
  flag("allow-run", "grant", "PROGRAM,...", "Programs that may be started; without a list all.", {
    default: "nothing",
  }),
  flag(
    "allow-env",
    "grant",
    "VARIABLE,...",
    "Variables of the environment that may be read; without a list all.",
    { default: "nothing" },
  ),
  toggle("allow-all", "Allows everything that no --deny flag names.", { short: "A" }),
  flag("deny-read", "grant", "PATH,...", "Files that may not be read, whatever is allowed."),
  flag("deny-write", "grant", "PATH,...", "Files that may not be written, whatever is allowed."),
  flag("deny-net", "grant", "HOST,...", "Hosts that may not be reached, whatever is allowed."),
  flag("deny-run", "grant", "PROGRAM,...", "Programs that may not be started, whatever is allowed."),
  flag("deny-env", "grant", "VARIABLE,...", "Variables that may not be read, whatever is allowed."),
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
    flag(
      "say",
      "texts",
      "TEXT",
      "Of a conversation: a message to the agent. May be repeated: each is said when the agent waits for one.",
      { not: ONLY_AGENTS },
    ),
    ...conversationFlags,
    ...documentFlags,
    ...outputFlags,
    ...callFlags,
  ],
} as const satisfies CommandSpec;
