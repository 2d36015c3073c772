import { RunNotFoundError } from "../../core/core.ts";
import { workingFolder } from "../../host/paths.ts";
import type { Terminal } from "../../host/terminal/terminal.ts";
import { EXIT, UsageError } from "../../service/exit_code.ts";
import { budgetOf } from "../../service/input/budget.ts";
import type { Kind } from "../../service/kinds/kind.ts";
import { kindNamed } from "../../service/kinds/kinds.ts";
import type { RunState } from "../../service/service.ts";
import { type Decisions, settleSteps, unverifiedText } from "../../service/start/settle.ts";
import { COMMANDS, type ParsedCommand } from "../flags/flags.ts";
import { isResumable } from "../here.ts";
import { deliverAgain, tellResumed } from "../resume/resume.ts";
import { interruptible, nobody, userBehind } from "../run/around.ts";
import { checkResultFile, checkStdout } from "../run/end.ts";
import { viewOf } from "../run/view.ts";
import type { ServerClient } from "./client.ts";
import { runThere, summaryOf } from "./look.ts";
import { performThere } from "./perform.ts";
import { serverOf } from "./server.ts";

type ResumeCommand = ParsedCommand<typeof COMMANDS.resume>;

/** `orrery resume [ID] --server URL`: goes on with a run there, or follows one that is under way; gives the exit code. */
export async function resume(
  { words: [word], flags }: ResumeCommand,
  terminal: Terminal,
  kinds: readonly Kind[],
): Promise<number> {
  checkStdout(flags, "resume");
  const budget = budgetOf(flags.budget, { command: "resume" });
  const client = serverOf(COMMANDS.resume, flags);
  const cwd = workingFolder();
  await checkResultFile(flags.output, cwd);
  const state = word === undefined ? await newest(client, terminal) : await runThere(client, word);
  const { id, kind, file = kind } = state;
  if (kind === "conversation") {
    throw new UsageError(
      `${id} is a conversation, which does not go with --server: leave --server out`,
      "resume",
    );
  }
  if (flags.output !== undefined && word !== undefined && state.status === "done") {
    const again = await deliverAgain(await client.trace(id), { flags, terminal, kinds, cwd });
    if (again !== undefined) return again;
  }
  const isUnderWay = state.status === "running" && state.owned;
  const decisions = isUnderWay ? undefined : await decided(id, { client, flags, terminal });
  if (typeof decisions === "number") return decisions;
  const stop = interruptible(terminal);
  const view = await viewOf(kindNamed(kind, kinds)?.seen, terminal, { flags, file });
  try {
    const user = await userBehind(view, { terminal, isQuiet: flags.quiet, usesStdin: false });
    const started = decisions === undefined
      ? { id }
      : await client.begin(`/v1/runs/${id}/resume`, { ...decisions, budget, ask: user.canAnswer });
    return await performThere(started, { client, terminal, flags, view, stop, user, file });
  } finally {
    await view.end();
  }
}

/** What is to be done with steps whose end is not known; the exit code where nobody has said so, which is told. */
export async function decided(
  id: string,
  { client, flags, terminal }: {
    readonly client: ServerClient;
    readonly flags: ResumeCommand["flags"];
    readonly terminal: Terminal;
  },
): Promise<Decisions | number> {
  const { steps } = await client.trace(id);
  const rerun: string[] = [];
  const skip: string[] = [];
  const left = await settleSteps({
    settle: (key, decision) => void (decision === "rerun" ? rerun : skip).push(key),
  }, { steps, decisions: flags, user: flags.quiet ? nobody : await terminal.user() });
  if (left.length === 0) return { rerun, skip };
  await terminal.stderr.write(unverifiedText(`${id} ${client.flag}`, left));
  return EXIT.failed;
}

async function newest(client: ServerClient, terminal: Terminal): Promise<RunState> {
  for await (const run of client.runs()) {
    if (!isResumable(summaryOf(run))) continue;
    await tellResumed(run, terminal);
    return run;
  }
  throw new RunNotFoundError(
    `No run of ${client.url} can go on: orrery runs --all ${client.flag} lists those there are`,
  );
}
