import {
  type Journal,
  RunEndedError,
  type RunJournal,
  RunNotFoundError,
  RunOwnedError,
  type RunSummary,
  type RunTrace,
} from "../../core/core.ts";
import type { Terminal } from "../../host/terminal/terminal.ts";
import { openApp } from "../../service/app.ts";
import type { Budget } from "../../run/budget.ts";
import { EXIT, UsageError } from "../../service/exit_code.ts";
import { budgetOf } from "../../service/input/budget.ts";
import { withBudget } from "../../service/input/kept_input.ts";
import { RunSummary as EndedSummary } from "../../service/runs/summary.ts";
import type { Kind } from "../../service/kinds/kind.ts";
import { kindNamed } from "../../service/kinds/kinds.ts";
import { runsOf } from "../../service/start/runs_of.ts";
import { settleSteps, unverifiedText } from "../../service/start/settle.ts";
import { aroundRun, interruptible, nobody } from "../run/around.ts";
import { checkResultFile, checkStdout, endRun } from "../run/end.ts";
import { performRun } from "../run/perform.ts";
import { viewOf } from "../run/view.ts";
import type { COMMANDS, ParsedCommand } from "../flags/flags.ts";
import { grantsOf } from "../flags/grants.ts";
import { isResumable } from "../here.ts";
import { type Going, resumeChat } from "./chat.ts";
import { resumeConversation } from "./conversation.ts";

type ResumeCommand = ParsedCommand<typeof COMMANDS.resume>;

/** `orrery resume [ID]`: goes on with a run and delivers its result as the first command would have; gives the exit code. */
export async function resume(
  { words, flags }: ResumeCommand,
  terminal: Terminal,
  kinds: readonly Kind[],
): Promise<number> {
  checkStdout(flags, "resume");
  const budget = budgetOf(flags.budget, { command: "resume" });
  const app = await openApp({ grants: grantsOf(flags) });
  const journal = await app.neededJournal();
  await checkResultFile(flags.output, app.project.cwd);
  const id = words[0] ?? await newest(journal, terminal);
  const again = words[0] === undefined
    ? undefined
    : await deliveredAgain(id, { app, journal, flags, terminal, kinds });
  if (again !== undefined) return again;
  const run = openRun(journal, id);
  try {
    return await resumed(run, { app, journal, budget, flags, terminal, kinds });
  } catch (error) {
    giveBack(run);
    throw error;
  }
}

/** A run with which nobody goes on stands where it stood. */
function giveBack(run: RunJournal): void {
  run.release(run.resumedFrom === "held" ? "held" : "stopped");
}

async function resumed(
  run: RunJournal,
  { budget, ...going }: Pick<Going, "app" | "journal" | "flags" | "terminal" | "kinds"> & {
    readonly budget: Budget;
  },
): Promise<number> {
  const { app, journal, flags, terminal } = going;
  const user = flags.quiet ? nobody : await terminal.user();
  const grants = await app.renewedGrants(run.id, user);
  const input = withBudget(run.run.input, budget);
  if (run.run.kind === "conversation") {
    giveBack(run); // each turn takes it over itself
    return await resumeConversation(run, { ...going, grants, input });
  }
  const { steps } = journal.read(run.id);
  const left = await settleSteps(run, { steps, decisions: flags, user });
  if (left.length > 0) {
    giveBack(run);
    app[Symbol.dispose]();
    await terminal.stderr.write(unverifiedText(run.id, left));
    return EXIT.failed;
  }
  return await goOn(run, { ...going, grants, input, kept: await app.continueRun(run, grants) });
}

/**
 * Writes the value of a run that is done to the file that is named, since a process may have ended between the two; undefined where there
 * is nothing to write.
 */
async function deliveredAgain(
  id: string,
  { app: { project }, journal, flags, terminal, kinds }: Pick<
    Going,
    "app" | "journal" | "flags" | "terminal" | "kinds"
  >,
): Promise<number | undefined> {
  return flags.output === undefined
    ? undefined
    : await deliverAgain(journal.read(id), { flags, terminal, kinds, ...project });
}

/** The same of what is kept of it. */
export async function deliverAgain(
  { summary: { kind, status }, run, events }: RunTrace,
  { flags, terminal, kinds, cwd }: Pick<Going, "flags" | "terminal" | "kinds"> & { readonly cwd: string },
): Promise<number | undefined> {
  const runs = status === "done" ? await runsOf(kindNamed(kind, kinds)) : undefined;
  if (runs === undefined) return undefined; // nor is there a value of what a person goes on with
  const summary = new EndedSummary({ withCalls: flags.json });
  for (const event of events) summary.add(event);
  return await endRun(summary, {
    terminal,
    flags,
    cwd,
    stop: interruptible(terminal),
    kept: undefined,
    ...runs.shown?.(run),
  });
}

/** @throws {RunEndedError}, {RunOwnedError}, of a conversation in its words (conversations.md 2.2); {RunNotFoundError} */
function openRun(journal: Journal, word: string): RunJournal {
  try {
    return journal.open(word);
  } catch (error) {
    if (!(error instanceof RunEndedError || error instanceof RunOwnedError)) throw error;
    const { id, kind } = journal.conversation(word).summary;
    if (kind !== "conversation") throw error;
    if (error instanceof RunOwnedError) {
      throw new RunOwnedError(`The agent is still answering; try again when it is done. ${error.message}`, {
        cause: error,
      });
    }
    throw new RunEndedError(
      `This conversation has ended. Start a new one, or go back to an earlier turn of it: orrery fork ${id} --turn N`,
      { cause: error },
    );
  }
}

async function goOn(run: RunJournal, going: Going): Promise<number> {
  const { app: { project, secrets }, grants, flags, terminal, kept, input, kinds } = going;
  const { id, run: { kind, file = kind } } = run;
  if (kind === "chat") return await resumeChat(run, going);
  const row = kindNamed(kind, kinds);
  const runs = await runsOf(row);
  if (runs === undefined) {
    throw new UsageError(`Run ${id} is of a kind that this Orrery does not know: ${kind}`, "resume");
  }
  const stop = interruptible(terminal);
  const view = await viewOf(row?.seen, terminal, { flags, file });
  const around = { terminal, stop, isQuiet: flags.quiet, usesStdin: false, secrets };
  await using opened = await aroundRun(view, around);
  const ready = await runs.again({ id, run: { ...run.run, input }, secrets }, {
    project,
    grants,
    around: opened,
  });
  return await performRun(ready, { terminal, flags, place: project, view, stop, kept });
}

async function newest(journal: Journal, terminal: Terminal): Promise<string> {
  const found = journal.list().find(isResumable);
  if (found === undefined) {
    throw new RunNotFoundError("No run of this project can go on: orrery runs --all lists those there are");
  }
  await tellResumed(found, terminal);
  return found.id;
}

/** Says which one it is, where nobody has named it. */
export async function tellResumed(
  { id, kind, file }: Pick<RunSummary, "id" | "kind" | "file">,
  { stderr }: Terminal,
): Promise<void> {
  await stderr.write(`resuming ${id}: ${kind}${file === undefined ? "" : ` ${file}`}\n`);
}
