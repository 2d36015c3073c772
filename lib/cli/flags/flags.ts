// The one table of the command line: parsing, --help, completions and the command reference all read it.
import { type CommandSpec, flag, toggle } from "./flag.ts";
import {
  attach,
  bothSay,
  budget,
  callFlags,
  catalogFlags,
  concurrency,
  conversationFlags,
  denyFlags,
  documentFlags,
  help,
  json,
  jsonl,
  model,
  modelFlags,
  output,
  outputFlags,
  permissionFlags,
  profile,
  promptFlags,
  quiet,
  RUN,
  serverFlags,
  serverPermissions,
  timeout,
  trustProject,
} from "./groups.ts";

/** `orrery serve`. */
const SERVE = {
  name: "serve",
  summary: "Serves the project over HTTP: a page, an API, models and tools.",
  arguments: [],
  flags: [
    flag("port", "number", "PORT", "Where it listens; 0 for any port that is free.", {
      short: "p",
      default: "7337",
    }),
    flag(
      "host",
      "text",
      "HOST",
      "The address it listens at. Any other than this machine's own lets others in who have the token.",
      { default: "127.0.0.1" },
    ),
    flag(
      "name",
      "texts",
      "NAME[:PORT]",
      "A name by which it may be asked for besides HOST. May be repeated.",
    ),
    flag("token", "text", "TOKEN", "What whoever asks has to show; at least 16 characters.", {
      default: "ORRERY_TOKEN, else a new one",
    }),
    toggle("no-token", "Whoever is on this machine may ask. Not with another --host."),
    toggle("ephemeral", "Keeps nothing of the runs: they cannot be resumed."),
    flag(
      "engine",
      "text",
      "restate=URL,...",
      "Restate keeps the runs and gives them to any of several nodes: its admin address; then ingress=URL, as=URL, listen=HOST:PORT, node=URL, identity=KEY (orrery help scale).",
    ),
    quiet,
    trustProject,
    ...serverPermissions,
    ...denyFlags,
    help,
  ],
} as const satisfies CommandSpec;

const RUN_ID = {
  name: "ID",
  required: true,
  names: "run",
  help: "The run, or the beginning of its id.",
} as const;

export type { Argument, CommandSpec, Flag, ParsedCommand } from "./flag.ts";

/** Without where the result goes, which is nothing to check. */
const [documentPrompt, documentBlock, documentMode] = documentFlags;

/** Every command, in the order of the help. */
export const COMMANDS = {
  init: {
    name: "init",
    summary: "Makes a small project that runs offline, to read and to change.",
    arguments: [{
      name: "FOLDER",
      names: "file",
      help: "Where, made when it is not there; the working folder without it.",
    }],
    flags: [
      flag(
        "kind",
        "text",
        "KIND",
        "Only a file of this kind, with its test, and what it needs that the project has not yet.",
        { choices: ["agent", "calls", "document", "prompt", "gadget"] },
      ),
      help,
    ],
  },
  run: RUN,
  ask: {
    name: "ask",
    summary: "Asks a model one question.",
    arguments: [
      {
        name: "TEXT",
        many: true,
        help: "The question; several words are joined. It may be left out when stdin is a pipe.",
      },
    ],
    flags: [
      ...modelFlags,
      attach,
      flag(
        "prompt",
        "text",
        "PATH",
        "A prompt of the project as the system text: its tools and what its answer has to be hold.",
        { names: "prompt" },
      ),
      ...promptFlags,
      profile,
      flag(
        "schema",
        "text",
        "FILE",
        "A JSON Schema that the answer has to fit; then it is printed as JSON.",
        {
          names: "file",
          not: bothSay("say what the answer has to be: the prompt does, with its parser or format"),
        },
      ),
      ...outputFlags,
      ...callFlags,
    ],
  },
  chat: {
    name: "chat",
    summary: "Talks with a model or an agent in the terminal, or through a pipe.",
    arguments: [{
      name: "AGENT",
      names: "file",
      help: 'A file that ends with ".agent.yml"; without it a model is talked with.',
    }],
    flags: [
      ...modelFlags,
      attach,
      {
        ...profile,
        not: { conversation: "names a profile of orrery.yaml, and AGENT a file: leave one of them out" },
      },
      ...promptFlags,
      ...conversationFlags,
      jsonl,
      quiet,
      ...serverFlags,
      ...callFlags,
    ],
  },
  check: {
    name: "check",
    summary: "Finds mistakes in files of every kind, and runs nothing.",
    arguments: [{
      name: "PATH",
      many: true,
      names: "file",
      help:
        "A document (.md), a call file (.calls), an agent (.agent.yml), a prompt (.prompt.md, .prompt), a collection (.collection.yml), tests " +
        "(.conversation-test.yml, .document-test.yml), orrery.yaml, or a folder with everything below it; the whole project without it.",
    }],
    flags: [
      flag(
        "format",
        "text",
        "FORMAT",
        "text on stderr; json, a SARIF 2.1.0 log, or annotations for GitHub Actions on stdout.",
        { choices: ["text", "json", "sarif", "github"], default: "text" },
      ),
      flag(
        "exclude",
        "list",
        "GLOB",
        "Leaves files and folders out of the folders that are checked, besides those of exclude in orrery.yaml. May be repeated.",
      ),
      ...promptFlags,
      documentPrompt,
      documentBlock,
      documentMode,
      model,
      quiet,
      catalogFlags[0],
      ...permissionFlags,
      help,
    ],
  },
  runs: {
    name: "runs",
    summary: "Lists the runs that are kept, the newest first.",
    arguments: [],
    flags: [
      toggle("all", "Every run, not the last 20 only."),
      json,
      toggle("names", "Only the ids, one a line."),
      ...serverFlags,
      help,
    ],
  },
  resume: {
    name: "resume",
    summary: "Goes on with a run or a conversation.",
    arguments: [{
      name: "ID",
      names: "run",
      help: "The run, or the beginning of its id; without it the newest that can go on.",
    }],
    flags: [
      flag("rerun", "texts", "KEY|all", "Does this step again, whose end is not known. May be repeated."),
      flag("skip", "texts", "KEY|all", "Takes this step as done, with the result null. May be repeated."),
      budget,
      ...outputFlags,
      ...serverFlags,
      ...catalogFlags,
      ...permissionFlags,
      help,
    ],
  },
  trace: {
    name: "trace",
    summary: "Shows what a run did, step by step.",
    arguments: [RUN_ID],
    flags: [
      json,
      flag(
        "html",
        "text",
        "FILE",
        "Writes the trace to FILE as a page with a timeline, whole or not at all.",
        { names: "file" },
      ),
      ...serverFlags,
      help,
    ],
  },
  fork: {
    name: "fork",
    summary: "Makes a new run of the steps of another one.",
    arguments: [RUN_ID],
    flags: [
      flag(
        "from",
        "text",
        "KEY",
        "The step, as orrery trace names it: it and what came after it are done anew.",
      ),
      flag(
        "turn",
        "number",
        "N",
        "Of a conversation: the turn behind which the new one goes on; 0 is its beginning.",
      ),
      help,
    ],
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
  },
  list: {
    name: "list",
    summary: "Lists gadgets, prompts, profiles, documents, agents, models or runs.",
    arguments: [{
      name: "KIND",
      choices: ["gadgets", "prompts", "profiles", "documents", "agents", "models", "runs", "conversations"],
      ofKinds: true,
      help: "What to list; gadgets, and what prompts and profiles the project has, without it.",
    }],
    flags: [
      json,
      toggle("names", "Only the names, one a line."),
      flag(
        "write-types",
        "grant",
        "PATH",
        "Of prompts: writes a module with the type of each, and with imports of their modules for a compiled program.",
        { default: "prompts.gen.ts beside orrery.yaml" },
      ),
      ...catalogFlags,
      help,
    ],
  },
  show: {
    name: "show",
    summary: "Shows one thing of the project, such as a gadget, or the settings.",
    arguments: [
      {
        name: "KIND",
        required: true,
        choices: ["gadget", "prompt", "profile", "document", "agent", "conversation", "config"],
        ofKinds: true,
        help: "What to show.",
      },
      {
        name: "NAME",
        names: "shown",
        help:
          "The name of the gadget or the profile, the path of the prompt, the document or the agent, or the id of the conversation or its beginning.",
      },
    ],
    flags: [
      ...promptFlags,
      json,
      modelFlags[0],
      concurrency,
      timeout,
      ...serverFlags,
      ...catalogFlags,
      help,
    ],
  },
  graph: {
    name: "graph",
    summary: "Draws what a call file, a document or an agent does.",
    arguments: [
      {
        name: "FILE",
        required: true,
        names: "file",
        help:
          'A file that ends with ".calls", a document that ends with ".md", an agent that ends with ".agent.yml", or - for calls on stdin.',
      },
    ],
    flags: [
      flag("format", "text", "FORMAT", "text for the terminal, mermaid for Markdown, svg for a page.", {
        choices: ["text", "mermaid", "svg"],
        default: "text",
      }),
      output,
      help,
    ],
  },
  test: {
    name: "test",
    summary: "Runs tests that are kept as files.",
    arguments: [{
      name: "FILE",
      required: true,
      many: true,
      names: "file",
      help:
        'Files that end with ".document-test.yml" or ".conversation-test.yml", and folders: all tests below them.',
    }],
    flags: [json, quiet, ...catalogFlags, help],
  },
  trust: {
    name: "trust",
    summary: "Shows and changes what gadgets may do for good.",
    arguments: [
      {
        name: "ACTION|NAME",
        help: "allow or deny, or the gadget or server to show in full; all of them without it.",
      },
      {
        name: "NAME",
        many: true,
        help: "Gadgets, by name or file, and MCP servers.",
      },
    ],
    flags: [
      toggle(
        "minimise",
        "Leaves the gadgets (those named, else all) only what they used in the runs that are kept.",
      ),
      toggle("yes", "Writes what --minimise shows without asking."),
      json,
      catalogFlags[0],
      trustProject,
      help,
    ],
  },
  serve: SERVE,
  mcp: {
    name: "mcp",
    summary: "Serves the project over MCP, on stdin and stdout.",
    arguments: [],
    flags: [
      toggle("ephemeral", "Keeps nothing of the runs: none can be resumed."),
      quiet,
      ...catalogFlags,
      ...permissionFlags,
      help,
    ],
  },
  schema: {
    name: "schema",
    summary: "Prints the JSON Schema of a kind of file.",
    arguments: [{
      name: "KIND",
      required: true,
      choices: ["config", "agent", "document-test", "conversation-test"],
      help:
        "config: orrery.yaml; agent: *.agent.yml; document-test: *.document-test.yml; conversation-test: *.conversation-test.yml.",
    }],
    flags: [output, help],
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
  },
  help: {
    name: "help",
    summary: "Shows the commands and topics, or the help of one.",
    arguments: [{
      name: "COMMAND|TOPIC",
      names: "help",
      help:
        "Which one: orrery help lists them. A page is Markdown; in a terminal it is drawn, and goes through $PAGER when it is long.",
    }],
    flags: [help],
  },
} as const satisfies { readonly [name: string]: CommandSpec };

/** The name of a command. */
export type CommandName = keyof typeof COMMANDS;

/** The pages of lib/help, and what each is about. */
export const TOPICS = {
  calls: "files of gadget calls, and how they run",
  documents: "Markdown that is run: operations, references, loops",
  conversations: "agents that talk: steps, slots, models, collections",
  prompts: "prompts, what their answers have to be, profiles, tactics",
  gadgets: "the built-in ones, your own, orrery.lock",
  permissions: "what a run may do, who is asked, the sandbox",
  models: "providers, keys, prices, script models",
  runs: "what is kept of runs: resume, trace, fork, replay",
  http: "the server: pages, routes, events, the OpenAI surface",
  mcp: "servers whose tools are gadgets, and Orrery as one",
  scale: "several machines: nodes on Restate, and what they guarantee",
  library: "Orrery from a program of yours",
  config: "every key of orrery.yaml and of your own settings",
  testing: "tests of documents and of conversations",
  "exit-codes": "what each exit code and each code of an error means",
} as const;
