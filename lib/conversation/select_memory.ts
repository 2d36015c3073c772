import type { LogEntry } from "../core/conversation.ts";
import type { Message } from "../core/message.ts";
import type { MemorySelection } from "../parse/agent/agent.ts";
import type { Messages } from "./message_log.ts";

/** What is selected from, and for whom. */
export interface MemoryOptions {
  readonly selections: readonly MemorySelection[];
  /** The newest entries that are taken of what is selected. Default: all. */
  readonly limit: number | undefined;
  /** The step that asks. */
  readonly step: string;
  /** A step with everything inside of it; undefined when there is no such step. */
  readonly within: (id: string) => ReadonlySet<string> | undefined;
}

/** The entries of the log that a model sees (conversations.md 2.7): what any selection names, in the order of the log. */
export function selectMemory(log: Messages, options: MemoryOptions): readonly LogEntry[] {
  const { selections, limit = Infinity } = options;
  const takes = selections.map((selection) => takerOf(selection, options));
  const selected: LogEntry[] = [];
  for (let i = log.length - 1; i >= 0 && selected.length < limit; i--) {
    const entry = log.at(i);
    if (entry !== undefined && takes.some((take) => take(entry))) selected.push(entry);
  }
  return selected.reverse();
}

/** As a model is told. */
export function memoryMessage({ who, text }: LogEntry): Message {
  return { role: who, content: text };
}

function takerOf(
  selection: MemorySelection,
  { step, within }: MemoryOptions,
): (entry: LogEntry) => boolean {
  if ("selector" in selection) {
    return selection.selector === "all" ? () => true : ({ steps }) => steps.includes(step);
  }
  const ids = within(selection.from);
  return ids === undefined ? () => false : ({ steps }) => steps.some((id) => ids.has(id));
}
