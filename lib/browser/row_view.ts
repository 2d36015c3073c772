/// <reference lib="dom" />
// What a run does, line by line: calls and answers of models, or the operations of a document, each with its state in a word and its time.
import type { Usage } from "../core/model.ts";
import { isAnswerOrCall, isNested, nameWords, type RunRow } from "../render/rows.ts";
import { duration, usageWords } from "../render/shown_text.ts";
import { el } from "./dom.ts";
import type { RunState } from "./run_state.ts";

/** The newest rows are shown, so many. */
const MAX_ROWS = 400;

/** A line as it is shown. */
interface RowWords {
  readonly name: string;
  readonly second: string;
  readonly state: string;
  readonly time: string;
  readonly note: string;
  readonly depth: number;
}

const MARKS: Readonly<Record<string, string>> = {
  waiting: "\u00b7",
  running: "\u25b8",
  done: "\u2713",
  reused: "\u2713",
  failed: "\u2717",
  skipped: "\u2013",
  stopped: "\u25a0",
};

/** What has not begun waits for nobody; what an earlier run did is done. */
const WORDS: Readonly<Record<string, string>> = { waiting: "not yet", reused: "done" };

/** The rows of a run in a list. */
export class RowView {
  readonly #list: HTMLElement;
  readonly #more: HTMLElement;
  readonly #items = new Map<RunRow, { readonly item: HTMLElement; shown: string }>();

  constructor(root: HTMLElement) {
    this.#more = el("p", { class: "soft small", hidden: true });
    this.#list = el("ol", { class: "run-rows" });
    root.replaceChildren(this.#more, this.#list);
  }

  /** @param now ms since the start of the run: what runs is shown to run until then */
  update(state: RunState, now: number): void {
    const rows = rowsOf(state);
    const shown = rows.slice(-MAX_ROWS);
    this.#more.hidden = rows.length <= MAX_ROWS;
    this.#more.textContent = `${rows.length - shown.length} earlier lines are not shown`;
    const kept = new Set(shown);
    for (const [row, { item }] of this.#items) {
      if (kept.has(row)) continue;
      item.remove();
      this.#items.delete(row);
    }
    for (const row of shown) this.#show(row, wordsOf(row, state, now));
  }

  #show(row: RunRow, words: RowWords): void {
    const known = this.#items.get(row);
    const text = JSON.stringify(words);
    if (known?.shown === text) return;
    const item = known?.item ?? el("li");
    if (known === undefined) this.#list.append(item);
    this.#items.set(row, { item, shown: text });
    item.dataset.state = words.state;
    item.dataset.indent = String(Math.min(words.depth, 8));
    item.replaceChildren(
      el("span", { class: "run-mark", "aria-hidden": "true" }, MARKS[words.state] ?? ""),
      el(
        "span",
        { class: "run-name" },
        words.name,
        words.second !== "" && el("span", { class: "run-second" }, words.second),
      ),
      el("span", { class: "run-note" }, words.note),
      el("span", { class: "run-state" }, WORDS[words.state] ?? words.state),
      el("span", { class: "run-ms" }, words.time),
    );
  }
}

/** Documents and conversations have steps inside of steps. */
function isTree({ kind }: RunState): boolean {
  return kind === "document" || kind === "conversation";
}

/** Those that are shown of all. */
export function rowsOf(state: RunState): readonly RunRow[] {
  return state.rows.all.filter(isTree(state) ? isNested : isAnswerOrCall);
}

function wordsOf(row: RunRow, state: RunState, now: number): RowWords {
  const { name, call, answer, inside, depth, note = "" } = row;
  const ms = state.rows.msOf(row, now);
  const given = {
    state: state.rows.stateOf(row),
    time: ms === undefined ? "" : duration(ms),
    note: note.split("\n", 1)[0] ?? "",
    depth: 0,
  };
  const tokens = (usage: Usage | undefined): string => usage === undefined ? "" : usageWords(usage);
  if (isTree(state)) return { ...given, name: nameWords(row), second: tokens(inside), depth };
  if (call === undefined) return { ...given, name: answer?.model ?? name, second: tokens(answer) };
  const { id, progress: { done, total } = {} } = call;
  const words = done === undefined ? given.note : total === undefined ? String(done) : `${done} of ${total}`;
  return { ...given, name: id, second: name, note: words };
}
