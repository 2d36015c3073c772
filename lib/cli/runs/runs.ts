import type { RunSummary } from "../../core/core.ts";
import type { Terminal } from "../../host/terminal/terminal.ts";
import { usageWords } from "../../render/shown_text.ts";
import { UsageError } from "../../service/exit_code.ts";
import type { COMMANDS, ParsedCommand } from "../flags/flags.ts";
import { openApp } from "../../service/app.ts";
import { tell, type Told } from "../page.ts";
import { tableText } from "../../render/page_text.ts";

/** So many are shown where not all are wanted. */
export const SHOWN = 20;

/** What is listed, and how. */
type RunsFlags = Pick<ParsedCommand<typeof COMMANDS.runs>["flags"], "all" | "json" | "names">;

/** `orrery runs`. */
export async function runs({ flags }: { readonly flags: RunsFlags }, terminal: Terminal): Promise<number> {
  checkOneForm(flags, "runs");
  return await tell(await runList(flags), flags, terminal);
}

/** The runs that are kept, the newest first. @param kind runs of it alone; default: all */
export async function runList({ all, json, names }: RunsFlags, kind?: string): Promise<Told> {
  using app = await openApp();
  const isShort = !all && !json && !names;
  const list = (await app.journal())?.list({ kind, ...(isShort && { limit: SHOWN + 1 }) }) ?? [];
  return listedRuns(list, { isShort, kind });
}

/** The same of runs that are known: the newest first. @param options.isShort not all of them are wanted */
export function listedRuns(
  list: readonly RunSummary[],
  { isShort, kind }: { readonly isShort: boolean; readonly kind?: string },
): Told {
  const shown = isShort ? list.slice(0, SHOWN) : list;
  return {
    names: list.map(({ id }) => id),
    json: list.map((run) => ({ ...run, status: statusWord(run) })),
    text: tableText(["ID", "STATUS", "KIND", "FILE", "STARTED", "STEPS", "TOKENS"], shown.map(row)),
    notes: list.length === 0
      ? `No ${kind ?? "run"} is kept in this project.\n`
      : list.length > shown.length
      ? `The last ${SHOWN}; orrery runs --all shows every one.\n`
      : "",
  };
}

/** A run whose process has died says `running` in the journal and is stopped. */
function statusWord({ status, owned }: RunSummary): string {
  return status === "running" && !owned ? "stopped" : status;
}

function row(run: RunSummary): string[] {
  const { id, kind, file = "", startedAt, steps, usage } = run;
  const tokens = usageWords(usage);
  return [id, statusWord(run), kind, file, timeWord(startedAt), String(steps), tokens];
}

/** In the time of this machine, as people read it: `2026-03-09 14:05`. */
function timeWord(ms: number): string {
  const date = new Date(ms);
  const two = (n: number) => String(n).padStart(2, "0");
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${two(date.getHours())}:${
    two(date.getMinutes())
  }`;
}

/** Finds out whether a list is wanted in two forms. @throws {UsageError} */
export function checkOneForm(
  { json, names }: { readonly json: boolean; readonly names: boolean },
  command: string,
): void {
  if (!json || !names) return;
  throw new UsageError("--json and --names cannot both have stdout; choose one", command);
}
