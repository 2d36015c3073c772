import type { RunEvent } from "../core/event.ts";
import type { RunStart, RunSummary } from "../core/journal.ts";
import type { Usage } from "../core/model.ts";
import type { FileRow, JournalSettings, JournalStore, RunRow } from "./store.ts";
import { isHeld } from "./new_run.ts";
import { parsed } from "./open_run.ts";

/** What the run was started with. */
export function runStart(store: JournalStore, { id, kind, file }: RunRow): RunStart {
  const files = store.files(id);
  return {
    id,
    kind,
    file,
    ...(files.length === 0 ? {} : { files: whole(files) }),
    input: parsed(store.input(id)),
  };
}

/** The pieces of each path behind each other. */
function whole(pieces: readonly FileRow[]): readonly FileRow[] {
  const texts = new Map<string, string[]>();
  for (const { path, text } of pieces) {
    const pieces = texts.get(path);
    if (pieces === undefined) texts.set(path, [text]);
    else pieces.push(text);
  }
  return [...texts].map(([path, texts]) => ({ path, text: texts.join("") }));
}

/** Events in the lists in which they were kept. */
export function parsedEvents(texts: readonly string[]): readonly RunEvent[] {
  const lists: readonly (readonly RunEvent[])[] = JSON.parse(`[${texts.join(",")}]`);
  return lists.flat();
}

/** The run as lists show it. */
export function runSummary(row: RunRow, settings: JournalSettings): RunSummary {
  const { id, kind, file, status, startedAt, updatedAt, steps, lease } = row;
  return {
    id,
    kind,
    file,
    status,
    owned: lease !== undefined && isHeld(lease, settings),
    startedAt,
    updatedAt,
    steps,
    usage: parsedUsage(row.usage),
  };
}

function parsedUsage(text: string): Usage {
  return JSON.parse(text);
}
