// Flags that several commands have.

import { EFFORTS } from "../../core/model_settings.ts";
import { type CommandSpec, type Flag, flag, toggle } from "./flag.ts";

/** Every command has it. */
export const help = toggle("help", "Shows this.", { short: "h" });

/** For programs. */
export const json = toggle("json", "One JSON value on stdout.");

/** Flags that some subjects do not take. @param not what stands behind their names in the error @param of what stands before their help */
function without<const Flags extends readonly Flag[]>(
  not: NonNullable<Flag["not"]>,
  of: string,
  flags: Flags,
): Flags {
  return flags.map((each) => ({
    ...each,
    help: of + each.help,
    not: { ...each.not, ...not },
  })) as unknown as Flags;
}

/** What a command is that a running server does (lib/cli/remote/). */
export const serverFlags = [
  flag(
    "server",
    "text",
    "URL",
    "Does it at a running orrery serve, in its project: FILE and names are looked for there.",
    {
      default: "ORRERY_SERVER, else here",
    },
  ),
  flag("token", "text", "TOKEN", "With --server: what that server asks for.", {
    default:
      "ORRERY_TOKEN; of a server on this machine also .orrery/orrery.db-token of the project of the working folder",
  }),
] as const satisfies readonly Flag[];

const SERVER_ALLOWS = {
  "--server":
    "and --server do not go together: what runs may do there is said to orrery serve when it starts",
} as const;
const SERVER_SETS = {
  "--server": "and --server do not go together: limits: of orrery.yaml say it in the project of the server",
} as const;
const SERVER_HAS_NOT = {
  "--server": "and --server do not go together: the server cannot do that; leave --server out",
} as const;

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
  conversation: "is for prompts; an agent takes slots: --slot NAME=VALUE",
  question: "gives values to a prompt: name it with --prompt PATH",
  talk: "gives values to a prompt: name it with --profile NAME",
} as const;

const ONLY_DOCUMENTS = {
  calls: "is for documents; a call file takes none",
  prompt: "is for documents; a prompt takes none",
  conversation: "is for documents; an agent takes none",
} as const;

/** Of a flag that says what the prompt says itself. */
export function bothSay(what: string): NonNullable<Flag["not"]> {
  return { "--prompt": `and --prompt cannot both ${what}`, "--profile": `and --profile cannot both ${what}` };
}

const OF_AGENT_FILE = "is not for an agent file, which says it itself";

/** What is kept of a run. */
const keepFlags = [
  toggle("ephemeral", "Keeps nothing of the run: it cannot be resumed.", {
    not: {
      "--server":
        "and --server do not go together: orrery serve --ephemeral says it for all runs of the server",
    },
  }),
  flag(
    "record",
    "text",
    "FILE",
    "Writes everything that comes into the run from outside, and every event, to FILE.",
    { names: "file", not: SERVER_HAS_NOT },
  ),
  flag(
    "replay",
    "text",
    "FILE",
    "Answers every effect from the record in FILE and touches nothing; ends with the difference when the run is another one.",
    { names: "file", not: SERVER_HAS_NOT },
  ),
] as const satisfies readonly Flag[];

/** Of calls. */
export const concurrency = flag("concurrency", "count", "N", "How many calls may run at once.", {
  default: "16",
  not: SERVER_SETS,
});

/** Of one call. */
export const timeout = flag(
  "timeout",
  "seconds",
  "SECONDS",
  "How long one call may take, unless its gadget says otherwise.",
  { default: "60", not: SERVER_SETS },
);

/** Which model is asked. */
export const model = flag(
  "model",
  "text",
  "MODEL",
  "The model: provider/model, or an alias of models.aliases.",
  { short: "m", names: "model", default: "ORRERY_MODEL, then models.default of orrery.yaml" },
);

/** How it thinks. */
export const effort = flag(
  "effort",
  "text",
  "EFFORT",
  "How hard the model thinks before it answers, over what files and profiles say; what it does not have becomes the nearest that it has.",
  {
    choices: EFFORTS,
    default:
      "effort of the file, then of the profile, then of its provider in orrery.yaml, then the provider's own",
  },
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
export const promptFlags = without(
  ONLY_PROMPTS,
  "",
  [
    flag(
      "input",
      "texts",
      "NAME=VALUE",
      "A value of the prompt, as text; NAME=@FILE is the text of a file, - a JSON object on stdin. Numbers and the like: --input-json. May be " +
        "repeated: of the same name the last one counts.",
      { short: "i" },
    ),
    flag("input-json", "text", "JSON", "Values of the prompt as a JSON object, or @FILE for one."),
  ] as const,
);

/** What a document is given, and where its result document goes (documents.md 1.1). */
export const documentFlags = without(
  ONLY_DOCUMENTS,
  "Of a document: ",
  [
    flag("prompt", "text", "TEXT", "what it is asked, put before its first block."),
    flag(
      "block",
      "texts",
      "FILE#REF",
      "a block of another file, put before its first block. May be repeated.",
    ),
    flag(
      "mode",
      "text",
      "MODE",
      "how results are merged where an operation does not say it.",
      {
        choices: ["append", "prepend", "replace"],
      },
    ),
    flag(
      "out",
      "text",
      "FILE",
      "where its result document goes; - is stdout, none is nowhere.",
      { names: "file", default: "beside the document, with the ending .ctx" },
    ),
    toggle("show-operations", "models see its operations too.", { not: SERVER_HAS_NOT }),
    toggle(
      "watch",
      "runs it again when it or a file that it read (imports, callees, media, schemas) changes, until Ctrl-C. What was done with " +
        "the same input is not done again: a model's answer to the same question, a tool's result, a command whose text, folder, variables " +
        "and time limit did not change.",
      { not: SERVER_HAS_NOT },
    ),
  ] as const,
);

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
      conversation: "is for prompts; a step of an agent names its model, or --model does",
    },
  },
);

/** What a model is shown. */
export const attach = flag(
  "attach",
  "texts",
  "FILE",
  "Shows the model a file: an image (png, jpeg, gif, webp), a PDF, or text of any kind, at most 20 MB; a URL is fetched, which needs " +
    "--allow-net. May be repeated.",
  { names: "file" },
);

/** Which model is asked, and how. */
export const modelFlags = [
  model,
  effort,
  flag(
    "tools",
    "list",
    "GADGET,...",
    "Gadgets that the model may call; SERVER__* stands for all of an MCP server. May be repeated.",
    {
      names: "gadget",
      not: {
        conversation: OF_AGENT_FILE,
        ...bothSay("say what the model may call: the prompt names its tools itself"),
      },
    },
  ),
  flag("system", "text", "TEXT", "What the model is told before everything else.", {
    not: {
      conversation: OF_AGENT_FILE,
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
        conversation: OF_AGENT_FILE,
        "--prompt": "is not for --prompt: the tools of a prompt are called by the calls of the provider",
        "--profile": "is not for --profile: the tools of a prompt are called by the calls of the provider",
      },
    },
  ),
  budget,
  flag("temperature", "number", "N", "How freely the model chooses its words. Default: the provider's.", {
    not: { conversation: OF_AGENT_FILE },
  }),
] as const satisfies readonly Flag[];

/** How a conversation with an agent is held (conversations.md). */
export const conversationFlags = without(
  ONLY_AGENTS,
  "Of a conversation: ",
  [
    flag("user", "text", "NAME", "with whom. Its global slots are kept for this user.", {
      default: "local",
    }),
    flag(
      "module",
      "text",
      "NAME|FILE",
      "the module whose slots it has; a file that ends with .module.yml says what it consists of.",
      { default: "default", names: "file" },
    ),
    flag("session", "text", "NAME", "the session of the module whose slots it has.", {
      default: "the id of the agent",
    }),
    flag(
      "context",
      "text",
      "FILE",
      "what its preloaded slots come from, as YAML or JSON: user, module, session, user-config, user-context-log.",
      { names: "file", not: SERVER_HAS_NOT },
    ),
    flag(
      "collection",
      "text",
      "FILE",
      "the .collection.yml file whose documents its retrievers search.",
      { names: "file", default: "conversations.collection of orrery.yaml", not: SERVER_HAS_NOT },
    ),
    flag(
      "slot",
      "texts",
      "NAME=VALUE",
      "a slot that is set before its first step, as text; session.NAME, module.NAME and global.NAME outlive it. May be repeated.",
    ),
  ] as const,
);

/** Of what a project says for itself. */
export const trustProject = toggle(
  "trust-project",
  "Lets what orrery.yaml, .mcp.json and orrery.lock themselves ask for count, this time and from now on until it changes.",
);

/** What else belongs to the project, and what of it counts. */
export const catalogFlags = without(SERVER_ALLOWS, "", [
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
]);

/** The flags that allow and forbid something. @param all what a flag without a list allows @param more what `things` are */
function permission<const Kind extends string>(
  kind: Kind,
  value: string,
  [things, done]: readonly [things: string, done: string],
  { fallback = "nothing", all = "all", more = "" } = {},
) {
  const allowed = `${things}${more} that may be ${done}; without a list ${all}.`;
  const denied = `${things} that may not be ${done}, whatever is allowed.`;
  return {
    allow: flag(`allow-${kind}` as const, "grant", `${value},...`, allowed, { default: fallback }),
    deny: flag(`deny-${kind}` as const, "grant", `${value},...`, denied),
  };
}

const read = permission("read", "PATH", ["Files", "read"], { fallback: "the project root" });
const write = permission("write", "PATH", ["Files", "written"], {
  fallback: ".orrery/ of the project root",
});
const net = permission("net", "HOST", ["Hosts", "reached"], {
  more: " (HOST or HOST:PORT)",
  all: "all but private addresses",
});
const run = permission("run", "PROGRAM", ["Programs", "started"]);
const env = permission("env", "VARIABLE", ["Variables", "read"], { more: " of the environment" });

/** What a server may do; commands are granted in its settings. */
export const serverPermissions = [read.allow, write.allow, net.allow, env.allow] as const;

/** What nobody may do. */
export const denyFlags = [read.deny, write.deny, net.deny, run.deny, env.deny] as const;

/** What a run may do. */
export const permissionFlags = without(SERVER_ALLOWS, "", [
  read.allow,
  write.allow,
  net.allow,
  run.allow,
  env.allow,
  toggle("allow-all", "Allows everything that no --deny flag names.", { short: "A" }),
  ...denyFlags,
]);

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
    effort,
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
    ...serverFlags,
    ...callFlags,
  ],
} as const satisfies CommandSpec;
