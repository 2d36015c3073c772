import type { RunEvent } from "../core/event.ts";
import { whenAborted } from "../core/when_aborted.ts";
import type { User } from "../core/world.ts";
import { workingFolder } from "../host/paths.ts";
import type { Terminal } from "../host/terminal.ts";
import { runCalls } from "../run/calls.ts";
import { openCallSource } from "./call_source.ts";
import type { CallSource } from "./call_source.ts";
import { EXIT } from "./exit_code.ts";
import type { COMMANDS, ParsedCommand } from "./flags.ts";
import { interruptible } from "./interruptible.ts";
import { policySettings } from "./policy_settings.ts";
import { openCatalog, openSettings } from "../project/project.ts";
import type { ProjectSettings } from "../project/project.ts";
import { checkResultFile, deliverResult } from "./run_result.ts";
import { RunSummary } from "./run_summary.ts";
import type { RunView } from "./run_view.ts";
import { UsageError } from "./usage_error.ts";
import { chooseView } from "./choose_view.ts";

type RunCommand = ParsedCommand<typeof COMMANDS.run>;
type RunFlags = RunCommand["flags"];

/** `orrery run FILE`: runs the calls of a file or of stdin; gives the exit code. */
export async function run({ words, flags }: RunCommand, terminal: Terminal): Promise<number> {
  if (flags.json && flags.jsonl) {
    throw new UsageError(["--json and --jsonl cannot both have stdout; choose one"], { command: "run" });
  }
  const cwd = workingFolder();
  const settings = policySettings(flags);
  await checkResultFile(flags.output, cwd);
  const stop = interruptible(terminal);
  const source = await openCallSource(words[0] ?? "-", {
    terminal,
    cwd,
    command: "run",
    signal: stop.signal,
  });
  const project = await openSettings(source.folder ?? cwd, { cwd });
  const view = await chooseView(terminal, { flags, source });
  stop.onSecond(() => view.abandon());
  const notice = (text: string) => void view.notice(text);
  using _stray = terminal.onStrayError((error) => notice(`a gadget left an error behind: ${String(error)}`));
  const opening = openCatalog(project, {
    flags,
    settings,
    user: await userBehind(view, { terminal, flags, source }),
    notice,
  });
  const opened = await Promise.race([opening, whenAborted(stop.signal)]);
  if (opened === undefined) { // a trusted module that never ends loading
    await view.end();
    return EXIT.interrupted;
  }
  const { catalog, world } = opened;
  const { markers } = project.config.calls;
  if (source.isStdin && terminal.stdinIsTerminal) notice("reading calls from the terminal; end with Ctrl-D");
  const events = runCalls(source.text, {
    catalog,
    clock: world.clock,
    markers,
    limits: limitsOf(project, flags),
    signal: stop.signal,
    file: source.name,
  });
  const summary = await follow(events, { terminal, view, flags });
  return await deliverResult(summary, {
    terminal,
    flags,
    source,
    markers,
    cwd,
    isInterrupted: stop.signal.aborted,
  });
}

async function follow(
  events: AsyncIterable<RunEvent>,
  { terminal, view, flags }: {
    readonly terminal: Terminal;
    readonly view: RunView;
    readonly flags: RunFlags;
  },
): Promise<RunSummary> {
  const summary = new RunSummary({ withCalls: flags.json });
  const { jsonLine } = flags.jsonl ? await import("../render/jsonl.ts") : { jsonLine: () => "" };
  try {
    for await (const event of events) {
      summary.add(event);
      if (flags.jsonl) await terminal.stdout.write(jsonLine(event));
      await view.event(event);
    }
  } finally {
    await view.end();
  }
  return summary;
}

/** The flags over the settings of the project. */
function limitsOf({ config }: ProjectSettings, flags: RunFlags): ProjectSettings["config"]["limits"] {
  const { concurrency = config.limits.concurrency, timeout } = flags;
  return {
    concurrency,
    timeoutMs: timeout === undefined ? config.limits.timeoutMs : timeout * 1000,
    resultBytes: config.limits.resultBytes,
  };
}

/** Nobody can answer while the calls themselves come from stdin, or where nobody wants to be asked. */
async function userBehind(
  view: RunView,
  { terminal, flags, source }: {
    readonly terminal: Terminal;
    readonly flags: RunFlags;
    readonly source: CallSource;
  },
): Promise<User> {
  if (flags.quiet || source.isStdin || !terminal.stdinIsTerminal || !terminal.stderr.isTerminal) {
    return nobody;
  }
  const { printable } = await import("../render/printable.ts");
  const user = await terminal.user({ show: (question) => terminal.stderr.write(printable(question)) });
  return {
    canAnswer: user.canAnswer,
    async ask(question, options) {
      await view.pause();
      try {
        return await user.ask(question, options);
      } finally {
        view.resume();
      }
    },
  };
}

const nobody: User = {
  canAnswer: false,
  ask: () => Promise.reject(new Error("Nobody can be asked: this run has no terminal to ask at")),
};
