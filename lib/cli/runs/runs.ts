import type { RunSummary } from "../../core/core.ts";
import type { Terminal } from "../../host/terminal/terminal.ts";
import { usageWords } from "../../render/shown_text.ts";
import { EXIT, UsageError } from "../../service/exit_code.ts";
import { journalHere } from "../here.ts";
import { columns, jsonPage } from "../page.ts";

const SHOWN = 20;

/** What is listed. */
export interface RunsCommand {
  readonly flags: { readonly all: boolean; readonly json: boolean; readonly names: boolean };
  /** Runs of this kind alone. Default: all. */
  readonly kind?: string;
}

/** `orrery runs`, `orrery list runs` and `orrery list conversations`. */
export async function runs({ flags, kind }: RunsCommand, terminal: Terminal): Promise<number> {
  checkOneForm(flags, "runs");
  using here = await journalHere();
  const wantsAll = flags.all || flags.json || flags.names;
  const list = here?.journal.list({
    kind,
    ...(wantsAll ? {} : { limit: SHOWN + 1 }),
  }) ?? [];
  const shown = wantsAll ? list : list.slice(0, SHOWN);
  if (flags.names) await terminal.stdout.write(list.map(({ id }) => `${id}\n`).join(""));
  else if (flags.json) await terminal.stdout.write(jsonPage(list.map(shownJson)));
  else if (list.length === 0) {
    await terminal.stderr.write(`No ${kind ?? "run"} is kept in this project.\n`);
  } else await terminal.stdout.write(`${columns([HEAD, ...shown.map(row)])}\n`);
  if (list.length > shown.length) {
    await terminal.stderr.write(`The last ${SHOWN}; orrery runs --all shows every one.\n`);
  }
  return EXIT.ok;
}

const HEAD = ["ID", "STATUS", "KIND", "FILE", "STARTED", "STEPS", "TOKENS"];

function shownJson(run: RunSummary): unknown {
  return { ...run, status: statusWord(run) };
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
