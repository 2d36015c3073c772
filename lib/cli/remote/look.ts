// What a server has: `runs`, `trace`, `show`.
import { RunNotFoundError, type RunSummary } from "../../core/core.ts";
import type { Terminal } from "../../host/terminal/terminal.ts";
import type { Kind } from "../../service/kinds/kind.ts";
import { assertNoResult } from "../../service/kinds/kinds.ts";
import type { RunState } from "../../service/service.ts";
import { COMMANDS, type ParsedCommand } from "../flags/flags.ts";
import { tell } from "../page.ts";
import { assertConversation, assertNamed, toldConversation, toldFile } from "../show/show.ts";
import { UsageError } from "../../service/exit_code.ts";
import { checkOneForm, listedRuns, SHOWN } from "../runs/runs.ts";
import { checkTraceForm, tellTrace } from "../runs/trace.ts";
import { type ServerClient, ServerError } from "./client.ts";
import { fileThere } from "./file.ts";
import { serverOf } from "./server.ts";

/** `orrery runs --server URL`. */
export async function runs(
  { flags }: ParsedCommand<typeof COMMANDS.runs>,
  terminal: Terminal,
): Promise<number> {
  checkOneForm(flags, "runs");
  const client = serverOf(COMMANDS.runs, flags);
  const isShort = !flags.all && !flags.json && !flags.names;
  const list = await Array.fromAsync(client.runs(isShort ? SHOWN + 1 : Infinity), summaryOf);
  return await tell(listedRuns(list, { isShort }), flags, terminal);
}

/** As a journal lists it. */
export function summaryOf(
  { id, kind, file, status, owned, startedAt, ms, steps, usage, hasFailed }: RunState,
): RunSummary {
  return {
    id,
    kind,
    file,
    status: status === "completed" ? "done" : status,
    owned,
    startedAt,
    updatedAt: startedAt + ms,
    steps,
    usage,
    hasFailed,
  };
}

/** `orrery trace ID --server URL`. @throws {UsageError} */
export async function trace(
  { words: [word = ""], flags }: ParsedCommand<typeof COMMANDS.trace>,
  terminal: Terminal,
): Promise<number> {
  checkTraceForm(flags);
  const client = serverOf(COMMANDS.trace, flags);
  const { id } = await runThere(client, word);
  return await tellTrace(await client.trace(id), flags, terminal);
}

/** `orrery show KIND NAME --server URL`: a conversation, or a file that says all of itself. @throws {UsageError} for what needs the project around it */
export async function show(
  { words: [kind = "", word = ""], flags }: ParsedCommand<typeof COMMANDS.show>,
  terminal: Terminal,
  kinds: readonly Kind[],
): Promise<number> {
  const client = serverOf(COMMANDS.show, flags);
  const row = kinds.find(({ file, show }) => show !== undefined && file?.word === kind);
  if (row === undefined && kind !== "conversation") {
    const known = kinds.flatMap(({ file, show }) =>
      show === undefined || file === undefined ? [] : [`${file.word}s`]
    );
    throw new UsageError(
      `orrery show ${kind} does not go with --server: of a server conversations, ${
        known.join(" and ")
      } are shown; ` +
        `${client.url}/v1/catalog has the rest`,
      "show",
    );
  }
  assertNamed(kind, word);
  if (row !== undefined) {
    assertNoResult(word, kinds, "show");
    const told = await toldFile(row, word, { terminal, look: (file) => fileThere(client, file) });
    return typeof told === "number" ? told : await tell(told, flags, terminal);
  }
  const run = await runThere(client, word);
  assertConversation(run, client.flag);
  return await tell(toldConversation(await client.exported(run.id)), flags, terminal);
}

/** The run of an id, or of the beginning of one. @throws {RunNotFoundError} */
export async function runThere(client: ServerClient, typed: string): Promise<RunState> {
  return await client.run(typed).catch((error) => {
    const isThere = !(error instanceof ServerError) || !["not-found", "invalid"].includes(error.code);
    if (isThere) throw error; // an id that none can have is none there, too
    throw new RunNotFoundError(
      error.details.runs === undefined
        ? `There is no run "${typed}" at ${client.url}; "orrery runs ${client.flag}" lists those there are`
        : `${client.url}: ${error.message}`,
    );
  });
}
