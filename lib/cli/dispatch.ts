import { didYouMean } from "../core/core.ts";
import { atRest } from "../host/process.ts";
import { hostTerminal, type Terminal } from "../host/terminal/terminal.ts";
import { EXIT, UsageError } from "../service/exit_code.ts";
import type { ParsedCommand } from "./flags/flag.ts";
import { type CommandName, COMMANDS } from "./flags/flags.ts";
import { isAgentWord, parseFlags } from "./flags/parse.ts";

type Runner = (args: readonly string[], terminal: Terminal) => Promise<number>;

/** Each command loads its code when it is typed; `as string` for the reason given in lib/cli/main.ts. */
const RUNNERS: { readonly [name in CommandName]: Runner } = {
  init: command("init", (): Promise<typeof import("./init.ts")> => import("./init.ts" as string)),
  run: command("run", (): Promise<typeof import("./run/run.ts")> => import("./run/run.ts" as string)),
  ask: command("ask", (): Promise<typeof import("./ask/ask.ts")> => import("./ask/ask.ts" as string)),
  chat: command("chat", (): Promise<typeof import("./chat/chat.ts")> => import("./chat/chat.ts" as string)),
  check: command("check", (): Promise<typeof import("./check.ts")> => import("./check.ts" as string)),
  runs: command("runs", (): Promise<typeof import("./runs/runs.ts")> => import("./runs/runs.ts" as string)),
  resume: command(
    "resume",
    (): Promise<typeof import("./resume/resume.ts")> => import("./resume/resume.ts" as string),
  ),
  trace: command(
    "trace",
    (): Promise<typeof import("./runs/trace.ts")> => import("./runs/trace.ts" as string),
  ),
  fork: command("fork", (): Promise<typeof import("./runs/fork.ts")> => import("./runs/fork.ts" as string)),
  rm: command("rm", (): Promise<typeof import("./runs/rm.ts")> => import("./runs/rm.ts" as string)),
  list: command("list", (): Promise<typeof import("./list/list.ts")> => import("./list/list.ts" as string)),
  show: command("show", (): Promise<typeof import("./show/show.ts")> => import("./show/show.ts" as string)),
  graph: command("graph", (): Promise<typeof import("./graph.ts")> => import("./graph.ts" as string)),
  test: command("test", (): Promise<typeof import("./test/test.ts")> => import("./test/test.ts" as string)),
  trust: command(
    "trust",
    (): Promise<typeof import("./trust/trust.ts")> => import("./trust/trust.ts" as string),
  ),
  serve: command("serve", (): Promise<typeof import("./serve.ts")> => import("./serve.ts" as string)),
  mcp: command("mcp", (): Promise<typeof import("./mcp.ts")> => import("./mcp.ts" as string)),
  schema: command("schema", (): Promise<typeof import("./schema.ts")> => import("./schema.ts" as string)),
  completions: command(
    "completions",
    (): Promise<typeof import("./completions.ts")> => import("./completions.ts" as string),
  ),
  help: command(
    "help",
    () => Promise.resolve({ help: ({ words }, terminal) => showHelp(words[0], terminal) }),
  ),
};

type Command<Name extends CommandName> = (
  parsed: ParsedCommand<typeof COMMANDS[Name]>,
  terminal: Terminal,
) => Promise<number>;

function command<Name extends CommandName>(
  name: Name,
  load: () => Promise<{ readonly [name in Name]: Command<Name> }>,
): Runner {
  return async (args, terminal) => {
    const parsed = parseFlags(COMMANDS[name], args);
    if (!parsed.wantsHelp) return await (await load())[name](parsed, terminal);
    await terminal.stdout.write(await (await loadHelp()).commandHelp(COMMANDS[name]));
    return EXIT.ok;
  };
}

function loadHelp(): Promise<typeof import("./help.ts")> {
  return import("./help.ts" as string);
}

/** Finds the command and runs it; gives the exit code. Everything that is thrown ends here, as a message on stderr. */
export async function dispatch(args: readonly string[]): Promise<number> {
  const terminal = hostTerminal();
  try {
    const code = await runCommand(args, terminal);
    await atRest();
    return code;
  } catch (error) {
    const { reportFailure }: typeof import("./report_failure.ts") = await import(
      "./report_failure.ts" as string
    );
    return await reportFailure(error, terminal);
  }
}

async function runCommand(args: readonly string[], terminal: Terminal): Promise<number> {
  const [name, ...rest] = args;
  if (name === undefined) {
    await terminal.stderr.write((await loadHelp()).overview());
    return EXIT.usage;
  }
  if (name === "--help" || name === "-h") return await showHelp(undefined, terminal);
  if (name === "complete") {
    const { complete }: typeof import("./completions.ts") = await import("./completions.ts" as string);
    return await complete(rest, terminal);
  }
  if (!isCommandName(name)) throw new UsageError(unknownCommand(name));
  return await RUNNERS[name](rest, terminal);
}

/** Of a name that is a command and a topic: both. */
async function showHelp(name: string | undefined, terminal: Terminal): Promise<number> {
  const { commandHelp, overview, showTopic, TOPICS } = await loadHelp();
  const command = name !== undefined && isCommandName(name) ? await commandHelp(COMMANDS[name]) : "";
  if (name === undefined) await terminal.stdout.write(overview());
  else if (Object.hasOwn(TOPICS, name)) await showTopic(name, { terminal, before: command });
  else if (command !== "") await terminal.stdout.write(command);
  else {
    const near = didYouMean(name, [...Object.keys(RUNNERS), ...Object.keys(TOPICS)]);
    throw new UsageError(`No command and no topic is called "${name}".${near} orrery help lists them`);
  }
  return EXIT.ok;
}

function isCommandName(word: string): word is CommandName {
  return Object.hasOwn(RUNNERS, word);
}

function unknownCommand(name: string): string {
  if (name === "--version" || name === "-V") return `${name} stands alone: orrery ${name}`;
  if (name.startsWith("-") && name !== "-") {
    return `Unknown flag ${name}: a command comes first, such as "orrery run FILE"`;
  }
  if (name === "-" || /\.(calls|md)$/i.test(name)) {
    return `Unknown command "${name}". Did you mean "orrery run ${name}"?`;
  }
  if (isAgentWord(name)) return `Unknown command "${name}". Did you mean "orrery chat ${name}"?`;
  return `Unknown command "${name}".${didYouMean(name, Object.keys(RUNNERS))}`;
}
