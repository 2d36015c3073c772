// The one table of the command line: parsing, --help, completions and the command reference all read it.
import { type CommandSpec, flag, toggle } from "./flag.ts";
import {
  ASKED_AT_TERMINAL,
  bothSay,
  budget,
  callFlags,
  catalogFlags,
  concurrency,
  conversationFlags,
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
  timeout,
  trustProject,
} from "./groups.ts";

const [allowRead, allowWrite, allowNet, , allowEnv, , ...denyFlags] = permissionFlags;

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
    quiet,
    trustProject,
    allowRead,
    allowWrite,
    allowNet,
    allowEnv,
    ...denyFlags,
    help,
  ],
  notes: [
    "stdout gets the URL. stderr gets the token and a link to the page, which works once; the token is in .orrery/orrery.db-token as well while the server runs, for you alone.",
    "What runs may do is what these flags and the grants of orrery.yaml say. Commands, and gadgets of the project, need a grant there; nobody is asked at the terminal.",
    "Ctrl-C or SIGTERM ends it in order: steps that are under way get 10 seconds, and what is left can be gone on with by orrery resume. Once more ends it at once.",
    "Exit codes: 0 ended in order, 1 it cannot listen, 2 usage or configuration, 130 ended at once.",
  ],
  examples: [
    ["orrery serve", "at http://127.0.0.1:7337, with a new token"],
    ["orrery serve --port 0 --ephemeral --no-token", "for a test, at any free port"],
    [
      'curl -H "Authorization: Bearer $(cat .orrery/orrery.db-token)" http://127.0.0.1:7337/v1/catalog',
      "asks it",
    ],
  ],
} as const satisfies CommandSpec;

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
    notes: [
      "It asks nothing and overwrites nothing: where one of the files is there already, none is written, and the exit code is 2.",
      'deno.json is for editors, and for deno check: it says where "orrery" is, which gadgets import.',
    ],
    examples: [
      ["orrery init cafe", "a folder with a file of each kind, tests, and what to try in README.md"],
      ["orrery init --kind agent", "only an agent and its test, here"],
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
      ['git diff | orrery ask "Write a commit message"', "a pipe as context"],
      ['orrery ask "What is in this folder?" --tools ListFolder,ReadFile', "lets the model look"],
      [
        'orrery ask "Is this safe?" --prompt review/code --input language=SQL < query.sql',
        "with a prompt of the project",
      ],
      ['orrery ask "Hello" -m script/echo', "without a provider"],
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
      {
        ...profile,
        not: { agent: "names a profile of orrery.yaml, and AGENT a file: leave one of them out" },
      },
      ...promptFlags,
      ...conversationFlags,
      jsonl,
      quiet,
      ...callFlags,
    ],
    notes: [
      'In the terminal a line is a message; a line that ends with \\ goes on in the next one, and """ alone begins and ends a message of several lines. ' +
      "With Deno 2.9 a line is edited as in a shell: the arrow keys move in it and bring earlier messages back. /help shows what else there is, /quit or Ctrl-D ends.",
      "With --profile a profile of orrery.yaml answers, with its model, system prompt, tools and limits; --input gives the variables of its system " +
      "prompt their values. --system, --tools and --tools-mode are errors then.",
      "With an AGENT its file says what happens. /slots, /trace, /back and /retry look at it and go back; /help shows how. A step that failed is told with the file, " +
      "and the next message tries it again.",
      ASKED_AT_TERMINAL,
      "Ctrl-C stops the answer; once more ends the conversation. orrery resume goes on with it.",
      "Through a pipe each line of stdin is a message, and each answer is text on stdout.",
      "Exit codes with an AGENT, by how the last turn ended: 0 it waits for a message or has come to its end, 1 a step failed, 5 a permission was refused, 6 the budget is " +
      "used up, 7 the provider or the network, 130 interrupted.",
    ],
    examples: [
      ["orrery chat -m script/echo", "without a provider"],
      ["orrery chat --profile researcher --input topic=heat", "with a profile of orrery.yaml"],
      ["orrery chat support.agent.yml --user ana", "with an agent file"],
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
    notes: [
      "All problems are told at once, one a line: FILE:LINE:COLUMN: error: TEXT. In a terminal the source line stands below, with a caret under the place.",
      "Of a folder, Markdown files count that have an operation, or inputs, limits or permissions in their front matter; hidden folders and node_modules " +
      "are left out. A document that another one imports or runs is looked at as a part of that one.",
      "No model is asked, no command or server started, no module of the project loaded, and no file written.",
      "What only the command line of a run can give is a warning: a permission that is missing, where no --allow or --deny flag says what may be done, and a value of " +
      "an input, where no --input says any. With such a flag it is an error, as it is for orrery run. So are, in an agent, variables and keys of the environment.",
      "Exit codes: 0 no errors, warnings or not; 2 errors.",
    ],
    examples: [
      ["orrery check", "everything of the project"],
      ["orrery check plan.md --allow-run", "one document, with what it will be allowed"],
      ["orrery check --format github", "in a workflow of GitHub Actions"],
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
      ...catalogFlags,
      ...permissionFlags,
      help,
    ],
    notes: [
      "What was done is not done again, and a model is not asked again what it has answered. The files are those the run began with.",
      "A step that may not be done twice and whose end is not known is asked about on a terminal; elsewhere nothing runs until --rerun or --skip says " +
      "what to do.",
      "Of a run that is done, -o FILE writes the value once more: a process may have ended before it was written.",
      "Permissions that the run was given are kept among your own files and hold again; more can be added.",
    ],
    examples: [["orrery resume", "the newest run that can go on"]],
  },
  trace: {
    name: "trace",
    summary: "Shows what a run did, step by step.",
    arguments: [{ name: "ID", required: true, names: "run", help: "The run, or the beginning of its id." }],
    flags: [
      json,
      flag(
        "html",
        "text",
        "FILE",
        "Writes the trace to FILE as a page with a timeline, whole or not at all.",
        { names: "file" },
      ),
      help,
    ],
    notes: [
      "The page is one file that opens without a server and loads nothing: every step with its time, tokens, cost, input and output, in light and dark. " +
      "It has at most 20 MB: longer values are cut, and say so.",
    ],
    examples: [
      ["orrery trace 0mzk3w2abcde --html trace.html", "a page to send to somebody"],
    ],
  },
  fork: {
    name: "fork",
    summary: "Makes a new run of the steps of another one.",
    arguments: [{ name: "ID", required: true, names: "run", help: "The run, or the beginning of its id." }],
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
    notes: [
      "The id of the new run is printed; orrery resume ID goes on with it. The old one stays as it is.",
    ],
    examples: [
      ["orrery fork 0mzk3w2abcde --turn 2", "a conversation that goes on behind its second turn"],
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
    notes: [
      "The tactics of the project are listed with its prompts: orrery run takes both.",
      "Documents are the Markdown files below the project root that have an operation, or inputs, limits or permissions in their front matter; " +
      "[inputs] in brackets have a default.",
      "Agents are the conversations of the project, files that end with .agent.yml or .agent.yaml; the agents: of orrery.yaml are its profiles.",
      "What is wrong with a file is told on stderr, with its line; the exit code is 0 all the same. --write-types writes nothing then, " +
      "and the exit code is 2.",
    ],
    examples: [
      ["orrery list gadgets --json", "the same for a program"],
      ["orrery list prompts --write-types --trust-code", "types for the code that uses the prompts"],
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
        help: "What to show.",
      },
      {
        name: "NAME",
        names: "shown",
        help:
          "The name of the gadget or the profile, the path of the prompt, the document or the agent, or the id of the conversation or its beginning.",
      },
    ],
    flags: [...promptFlags, json, modelFlags[0], concurrency, timeout, ...catalogFlags, help],
    notes: [
      "A prompt is shown as it is sent when --input gives all its variables a value, else as its template.",
      "Of a document: what it takes, needs and uses, its operations, and the ids of all blocks as references name them.",
      "Of an agent: its steps, with what they need to be done, where they go on, and the slots that they read and write.",
      "Of a conversation: who said what, where it is, and its slots; with --json as an export.",
      "Keys, and values that may hold one, are never shown.",
    ],
    examples: [
      ["orrery show prompt review/code -i file=@main.ts", "what a model would be asked"],
      ["orrery show gadget ReadFile", "what it takes, needs and gives, with a call to copy"],
      ["orrery show document plan.md", "its inputs, operations and blocks"],
      ["orrery show agent support.agent.yml", "its steps and slots"],
      ["orrery show config", "which setting holds, and why"],
    ],
  },
  graph: {
    name: "graph",
    summary: "Draws how calls depend on each other, or what a document does.",
    arguments: [
      {
        name: "FILE",
        required: true,
        names: "file",
        help: 'A file that ends with ".calls", a document that ends with ".md", or - for calls on stdin.',
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
    notes: [
      "Blocks that cannot be read, dependencies that are never called and cycles are in the picture and, with their lines, on stderr. " +
      "The exit code is 0 all the same: the picture is what was asked for.",
      "Of a document: its operations in their order, the blocks that they read and insert into, the files that it imports and runs, and those that these do, and jumps. " +
      "As text its operations stand along a rail, each with what it does, the files that it uses below it.",
    ],
    examples: [
      ["orrery graph release.calls --format svg -o release.svg", "a picture for a page"],
      ["orrery graph plan.md --format mermaid", "a document, for Markdown"],
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
    notes: [
      "A test says what a document is given, what a model says (as the replies of script/FILE), and what is to come of it: value, blocks, result, " +
      "error, exit, messages.",
      "A test of a conversation says what the person says, what the models of its steps and what servers answer, and what the agent is to say; slots, and what models are " +
      "sent, too. It ends at the first turn that is not as expected. A reply that is missing, or left over, is a failure.",
      "Tools are the gadgets and the prompts of the project, as for orrery run, and the model of the test answers whatever model is named. Gadgets that ask for " +
      "something and servers have to be allowed, as they have there.",
      "Nothing of the project is changed: files are written in memory, and commands are scripted. With allow: [run] real ones run, in a copy of " +
      "the project. What a gadget or a server that is allowed does by itself is done.",
      "Exit codes: 0 all passed, 1 a test failed, 2 a file of tests cannot be read.",
    ],
    examples: [
      ["orrery test support.conversation-test.yml", "one file"],
      ["orrery test plans", "all tests of a folder"],
      ["orrery test plan.document-test.yml --trust Shout", "with a gadget of the project"],
    ],
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
    notes: [
      "What is allowed for good is in orrery.lock: the gadget, what it may do, and the SHA-256 of every module that it loads. When one of them changes it is not allowed any " +
      "more, and asked about again with what changed. The file belongs into version control; others have to accept it once, as they accept what orrery.yaml grants.",
      "allow takes each gadget as it is now, with what it asks for, and asks nothing; a server is started once, to see its tools. deny takes them out again: they are asked " +
      "about when they are wanted next.",
      "--minimise puts what was used in the place of what was asked for: hosts, variables, programs and files, or their folders where they are many. It shows what would " +
      "change, and asks before it writes; a script says --yes.",
      "Exit codes: 0 done, 2 no such gadget or a broken orrery.lock, 5 the project was not accepted, or --minimise needs --yes.",
    ],
    examples: [
      ["orrery trust", "everything that is allowed, and whether it changed since"],
      ["orrery trust allow FetchPage", "as an answer of always would"],
      ["orrery trust deny FetchPage", "takes it back"],
      ["orrery trust --minimise", "only what was really used"],
      ["orrery trust --minimise FetchPage --yes", "in a script"],
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
    notes: [
      "Tools are the gadgets of the project, its agents (agent_ID), documents (document_PATH) and prompts (prompt_PATH); prompts can also be rendered, and documents, agents " +
      "and the traces of runs read. Over HTTP orrery serve has the same at /mcp.",
      "What no flag allows is asked about at the client, where it can ask (elicitation); elsewhere it is refused and the flag named.",
      "Each call is a run, listed by orrery runs. The server ends when its stdin does; what is under way then is stopped.",
      "Exit codes: 0 the client has closed its end, 2 usage or configuration, 130 interrupted twice.",
    ],
    examples: [
      ["orrery mcp", "in the settings of a client: command orrery, arguments mcp"],
      ["orrery mcp --allow-net=api.example.com", "its gadgets may reach this host"],
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
    examples: [["orrery schema config -o orrery.schema.json", "for an editor"]],
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
    examples: [
      ["source <(orrery completions bash)", "bash, this session"],
      ["orrery completions fish > ~/.config/fish/completions/orrery.fish", "fish, for good"],
    ],
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
