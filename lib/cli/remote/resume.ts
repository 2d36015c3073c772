import { RunNotFoundError } from "../../core/core.ts";
import { workingFolder } from "../../host/paths.ts";
import type { Terminal } from "../../host/terminal/terminal.ts";
import { EXIT } from "../../service/exit_code.ts";
import { budgetOf } from "../../service/input/budget.ts";
import type { Kind } from "../../service/kinds/kind.ts";
import { kindNamed } from "../../service/kinds/kinds.ts";
import type { RunState } from "../../service/service.ts";
import { unverifiedText } from "../../service/start/settle.ts";
import { COMMANDS, type ParsedCommand } from "../flags/flags.ts";
import { isResumable } from "../here.ts";
import { deliverAgain, tellResumed } from "../resume/resume.ts";
import { interruptible, nobody, userBehind } from "../run/around.ts";
import { checkResultFile, checkStdout } from "../run/end.ts";
import { viewOf } from "../run/view.ts";
import type { ServerClient } from "./client.ts";
import { resumeTalkThere } from "./chat.ts";
import { runThere } from "./look.ts";
import { performThere } from "./perform.ts";
import { serverOf } from "./server.ts";
import { decidedThere } from "./talk.ts";

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
  if (kind === "conversation") return await resumeTalkThere(id, { client, flags, terminal });
  if (flags.output !== undefined && word !== undefined && state.status === "done") {
    const again = await deliverAgain(await client.trace(id), { flags, terminal, kinds, cwd });
    if (again !== undefined) return again;
  }
  const isUnderWay = state.status === "running" && state.owned;
  const asked = flags.quiet ? nobody : await terminal.user();
  const decided = isUnderWay
    ? undefined
    : await decidedThere(await client.trace(id), { user: asked, decisions: flags });
  if (decided !== undefined && decided.left.length > 0) {
    await terminal.stderr.write(unverifiedText(`${id} ${client.flag}`, decided.left));
    return EXIT.failed;
  }
  const stop = interruptible(terminal);
  const view = await viewOf(kindNamed(kind, kinds)?.seen, terminal, { flags, file });
  try {
    const user = await userBehind(view, { terminal, isQuiet: flags.quiet, usesStdin: false });
    const { rerun, skip } = decided ?? {};
    const started = decided === undefined
      ? { id }
      : await client.begin(`/v1/runs/${id}/resume`, { rerun, skip, budget, ask: user.canAnswer });
    return await performThere(started, { client, terminal, flags, view, stop, user, file });
  } finally {
    await view.end();
  }
}

async function newest(client: ServerClient, terminal: Terminal): Promise<RunState> {
  for await (const run of client.runs()) {
    if (!isResumable(run)) continue;
    await tellResumed(run, terminal);
    return run;
  }
  throw new RunNotFoundError(
    `No run of ${client.url} can go on: orrery runs --all ${client.flag} lists those there are`,
  );
}
