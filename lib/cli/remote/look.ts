// What a server has kept: `runs`, `trace`, `show conversation`.
import { RunNotFoundError, type RunSummary } from "../../core/core.ts";
import type { Terminal } from "../../host/terminal/terminal.ts";
import type { RunState } from "../../service/service.ts";
import { COMMANDS, type ParsedCommand } from "../flags/flags.ts";
import { tell } from "../page.ts";
import { assertConversation, assertNamed, toldConversation } from "../show/show.ts";
import { UsageError } from "../../service/exit_code.ts";
import { checkOneForm, listedRuns, SHOWN } from "../runs/runs.ts";
import { checkTraceForm, tellTrace } from "../runs/trace.ts";
import { type ServerClient, ServerError } from "./client.ts";
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

/** `orrery show conversation ID --server URL`. @throws {UsageError} for what a server does not show */
export async function show(
  { words: [kind = "", word = ""], flags }: ParsedCommand<typeof COMMANDS.show>,
  terminal: Terminal,
): Promise<number> {
  const client = serverOf(COMMANDS.show, flags);
  if (kind !== "conversation") {
    throw new UsageError(
      `orrery show ${kind} does not go with --server: of a server only conversations are shown, orrery show conversation ID; ` +
        `its pages and ${client.url}/v1/catalog have the rest`,
      "show",
    );
  }
  assertNamed(kind, word);
  const run = await runThere(client, word);
  assertConversation(run, client.flag);
  return await tell(toldConversation(await client.exported(run.id)), flags, terminal);
}

/** The run of an id, or of the beginning of one, as `orrery trace` takes it. @throws {RunNotFoundError} */
export async function runThere(client: ServerClient, typed: string): Promise<RunState> {
  const exact = /^[\w:@-][\w.:@-]{0,99}$/.test(typed)
    ? await client.run(typed).catch((error) => {
      if (error instanceof ServerError && error.code === "not-found") return undefined;
      throw error;
    })
    : undefined;
  if (exact !== undefined) return exact;
  const found: RunState[] = [];
  if (typed.length >= MIN_BEGINNING) {
    for await (const run of client.runs()) if (run.id.startsWith(typed)) found.push(run);
  }
  const [first] = found;
  if (first !== undefined && found.length === 1) return await client.run(first.id);
  throw new RunNotFoundError(
    found.length > 1
      ? `${found.length} runs of ${client.url} begin with "${typed}": ${
        found.slice(0, 8).map(({ id }) => id).join(", ")
      }. Give more of the id`
      : `There is no run "${typed}" at ${client.url}; "orrery runs ${client.flag}" lists those there are`,
  );
}

/** As `orrery trace` has it here. */
const MIN_BEGINNING = 4;
