import { didYouMean } from "../core/core.ts";
import { atRest, hostEnv } from "../host/process.ts";
import { hostTerminal, type Terminal } from "../host/terminal/terminal.ts";
import type { Kind } from "../service/kinds/kind.ts";
import { conversation } from "../service/kinds/conversation/conversation.ts";
import { kindOfFile, KINDS } from "../service/kinds/kinds.ts";
import { EXIT, UsageError } from "../service/exit_code.ts";
import type { ParsedCommand } from "./flags/flag.ts";
import { type CommandName, COMMANDS, TOPICS } from "./flags/flags.ts";
import { parseFlags } from "./flags/parse.ts";

/** Each command loads its code when it is typed; `as string` for the reason given in lib/cli/main.ts. */
const LOADERS: { readonly [name in CommandName]: Loader<name> } = {
  init: (): Promise<typeof import("./init.ts")> => import("./init.ts" as string),
  run: (): Promise<typeof import("./run/run.ts")> => import("./run/run.ts" as string),
  ask: (): Promise<typeof import("./ask/ask.ts")> => import("./ask/ask.ts" as string),
  chat: (): Promise<typeof import("./chat/chat.ts")> => import("./chat/chat.ts" as string),
  check: (): Promise<typeof import("./check.ts")> => import("./check.ts" as string),
  runs: (): Promise<typeof import("./runs/runs.ts")> => import("./runs/runs.ts" as string),
  resume: (): Promise<typeof import("./resume/resume.ts")> => import("./resume/resume.ts" as string),
  trace: (): Promise<typeof import("./runs/trace.ts")> => import("./runs/trace.ts" as string),
  fork: (): Promise<typeof import("./runs/fork.ts")> => import("./runs/fork.ts" as string),
  rm: (): Promise<typeof import("./runs/rm.ts")> => import("./runs/rm.ts" as string),
  list: (): Promise<typeof import("./list/list.ts")> => import("./list/list.ts" as string),
  show: (): Promise<typeof import("./show/show.ts")> => import("./show/show.ts" as string),
  graph: (): Promise<typeof import("./graph.ts")> => import("./graph.ts" as string),
  test: (): Promise<typeof import("./test/test.ts")> => import("./test/test.ts" as string),
  trust: (): Promise<typeof import("./trust/trust.ts")> => import("./trust/trust.ts" as string),
  serve: (): Promise<typeof import("./serve.ts")> => import("./serve.ts" as string),
  mcp: (): Promise<typeof import("./mcp.ts")> => import("./mcp.ts" as string),
  schema: (): Promise<typeof import("./schema.ts")> => import("./schema.ts" as string),
  completions: (): Promise<typeof import("./completions.ts")> => import("./completions.ts" as string),
  help: () => Promise.resolve({ help: ({ words }, terminal) => showHelp(words[0], terminal) }),
};

/** What a running server does, where `--server` or `ORRERY_SERVER` names one. */
const THERE: { readonly [name in CommandName]?: Loader<name> } = {
  run: (): Promise<typeof import("./remote/start.ts")> => import("./remote/start.ts" as string),
  chat: (): Promise<typeof import("./remote/chat.ts")> => import("./remote/chat.ts" as string),
  resume: (): Promise<typeof import("./remote/resume.ts")> => import("./remote/resume.ts" as string),
  runs: (): Promise<typeof import("./remote/look.ts")> => import("./remote/look.ts" as string),
  trace: (): Promise<typeof import("./remote/look.ts")> => import("./remote/look.ts" as string),
  show: (): Promise<typeof import("./remote/look.ts")> => import("./remote/look.ts" as string),
};

type Command<Name extends CommandName> = (
  parsed: ParsedCommand<typeof COMMANDS[Name]>,
  terminal: Terminal,
  kinds: readonly Kind[],
) => Promise<number>;

type Loader<Name extends CommandName> = () => Promise<{ readonly [name in Name]: Command<Name> }>;

async function runNamed<Name extends CommandName>(
  name: Name,
  args: readonly string[],
  terminal: Terminal,
  kinds: readonly Kind[],
): Promise<number> {
  const parsed = parseFlags(COMMANDS[name], args, kinds);
  if (!parsed.wantsHelp) {
    return await (await loaderOf(name, parsed.flags)())[name](parsed, terminal, kinds);
  }
  await terminal.stdout.write(await (await loadHelp()).commandHelp(COMMANDS[name]));
  return EXIT.ok;
}

/** @throws {UsageError} for a token that no server asks for */
function loaderOf<Name extends CommandName>(
  name: Name,
  flags: { readonly server?: unknown; readonly token?: unknown },
): Loader<Name> {
  const there = THERE[name];
  if (there === undefined) return LOADERS[name];
  if (flags.server !== undefined || hostEnv("ORRERY_SERVER")?.trim()) return there;
  if (flags.token === undefined) return LOADERS[name];
  throw new UsageError("--token is for --server URL: nothing here asks for one; leave it out", name);
}

function loadHelp(): Promise<typeof import("./help.ts")> {
  return import("./help.ts" as string);
}

/** Finds the command and runs it; gives the exit code. @param more kinds besides those of Orrery. Everything that is thrown ends here, as a message on stderr. */
export async function dispatch(args: readonly string[], more: readonly Kind[]): Promise<number> {
  const terminal = hostTerminal();
  try {
    const code = await runCommand(args, terminal, [...KINDS, ...more]);
    await atRest();
    return code;
  } catch (error) {
    const { reportFailure }: typeof import("./report_failure.ts") = await import(
      "./report_failure.ts" as string
    );
    return await reportFailure(error, terminal);
  }
}

async function runCommand(
  args: readonly string[],
  terminal: Terminal,
  kinds: readonly Kind[],
): Promise<number> {
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
  if (!isCommandName(name)) throw new UsageError(unknownCommand(name, kinds));
  return await runNamed(name, rest, terminal, kinds);
}

/** Of a name that is a command and a topic: both. */
async function showHelp(name: string | undefined, terminal: Terminal): Promise<number> {
  const { commandHelp, overview, showTopic } = await loadHelp();
  const command = name !== undefined && isCommandName(name) ? await commandHelp(COMMANDS[name]) : "";
  if (name === undefined) await terminal.stdout.write(overview());
  else if (Object.hasOwn(TOPICS, name)) await showTopic(name, { terminal, before: command });
  else if (command !== "") await terminal.stdout.write(command);
  else {
    const near = didYouMean(name, [...Object.keys(LOADERS), ...Object.keys(TOPICS)]);
    throw new UsageError(`No command and no topic is called "${name}".${near} orrery help lists them`);
  }
  return EXIT.ok;
}

function isCommandName(word: string): word is CommandName {
  return Object.hasOwn(LOADERS, word);
}

function unknownCommand(name: string, kinds: readonly Kind[]): string {
  if (name === "--version" || name === "-V") return `${name} stands alone: orrery ${name}`;
  if (name.startsWith("-") && name !== "-") {
    return `Unknown flag ${name}: a command comes first, such as "orrery run FILE"`;
  }
  const kind = kindOfFile(name, kinds);
  if (name === "-" || kind !== undefined) {
    return `Unknown command "${name}". Did you mean "orrery ${
      kind === conversation ? "chat" : "run"
    } ${name}"?`;
  }
  return `Unknown command "${name}".${didYouMean(name, Object.keys(LOADERS))}`;
}
