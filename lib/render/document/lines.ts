import type { RunEvent } from "../../core/core.ts";
import type { IsReused } from "./state.ts";
import type { Paint } from "../cells.ts";
import { isOutcome, keyOf } from "../plain_lines.ts";
import { emptyTally, type RunTally, tallyAfter, tallyLine } from "../run_tally.ts";
import { duration, longText, printable, printableLine } from "../shown_text.ts";

/** How much is told. */
export interface DocumentLinesOptions {
  /** Only errors. */
  readonly quiet?: boolean;
  /** Only errors and warnings: somebody else shows the operations. */
  readonly problemsOnly?: boolean;
  /** Default: none is. */
  readonly isReused?: IsReused;
}

/**
 * Turns the events of a document's run into lines for a log file or a pipe: one for each operation that ended, and errors and warnings
 * in the form of documents.md 1.3.
 */
export class DocumentLines {
  readonly #isQuiet: boolean;
  readonly #onlyProblems: boolean;
  readonly #isReused: IsReused;
  /** The operations that are under way, by their steps. */
  readonly #operations = new Map<string, string>();
  /** Calls that have started and not ended. */
  readonly #calls = new Set<string>();
  #tally: RunTally = emptyTally;
  #lastError: string | undefined;
  /** Of a document that runs itself: each of those around it fails with the same words, and the outermost tells them. */
  #endless: readonly string[] = [];

  constructor(options: DocumentLinesOptions = {}) {
    this.#onlyProblems = options.problemsOnly ?? false;
    this.#isQuiet = options.quiet ?? false;
    this.#isReused = options.isReused ?? (() => false);
  }

  /** What the event adds to the log; the empty text when it adds nothing. */
  text(event: RunEvent): string {
    this.#tally = tallyAfter(this.#tally, event, this.#hasRun(event));
    const goesOn = event.type === "step-start" || event.type === "run-end";
    const endless = goesOn ? this.#endless : [];
    if (goesOn) this.#endless = [];
    return [...endless, ...this.#lines(event)].map((line) => `${line}\n`).join("");
  }

  /** A line of our own about the run; the empty text when only errors are told. */
  notice(text: string): string {
    return this.#isQuiet ? "" : `  warn  ${printable(longText(text))}\n`;
  }

  /** A line that something besides the run says; the empty text when only errors are told. */
  log(source: string, text: string): string {
    return this.#isQuiet ? "" : `  log   ${printableLine(source)}  ${printable(longText(text.trimEnd()))}\n`;
  }

  /** Whether a call that had started ends with it. */
  #hasRun(event: RunEvent): boolean {
    if (!("invocationId" in event)) return false;
    const call = keyOf(event);
    if (event.type === "call-run") this.#calls.add(call);
    return isOutcome(event) && this.#calls.delete(call);
  }

  #lines(event: RunEvent): readonly string[] {
    switch (event.type) {
      case "step-start":
        if (event.kind === "step") this.#operations.set(event.key, event.name);
        return [];
      case "step-end":
        return this.#endOf(event);
      case "step-skip":
        return this.#isBrief
          ? []
          : [`  skip  ${printableLine(event.name ?? event.step)}  ${printableLine(event.condition)}`];
      case "warning":
        return this.#isQuiet ? [] : [warningLine(event)];
      case "permission-answer":
        return this.#isBrief || event.reason === "nobody"
          ? []
          : [`  ${event.allowed ? "allow" : "deny "} ${printableLine(event.permissions.join(", "))}`];
      case "run-end":
        return this.#runEnd(event);
      default:
        return []; // what operations do inside is told by their own lines
    }
  }

  #endOf({ key, ms, error }: Extract<RunEvent, { type: "step-end" }>): readonly string[] {
    const name = this.#operations.get(key);
    if (name === undefined) return [];
    this.#operations.delete(key);
    if (error !== undefined) {
      this.#lastError = error.message;
      const lines = printable(longText(error.message)).split("\n");
      if (!ENDLESS.test(error.message)) return lines;
      this.#endless = lines;
      return [];
    }
    if (this.#isBrief) return [];
    return [`  ${this.#isReused(key) ? "reused" : "ok   "} ${printableLine(name)}  ${duration(ms)}`];
  }

  get #isBrief(): boolean {
    return this.#isQuiet || this.#onlyProblems;
  }

  #runEnd({ error, at }: Extract<RunEvent, { type: "run-end" }>): readonly string[] {
    const isTold = error === undefined || error === this.#lastError;
    const errors = isTold ? [] : [`error: ${printable(longText(error))}`];
    const hasTally = !this.#isBrief && this.#tally.answers > 0;
    return hasTally ? [...errors, tallyLine(this.#tally, at)] : errors;
  }
}

const ENDLESS = / is nested \d+ deep \(.* a document that runs itself never ends$/s;

/** `FILE:LINE:COLUMN: warning: TEXT` (documents.md 1.3). */
function warningLine({ text, file, line = 1, column = 1 }: Extract<RunEvent, { type: "warning" }>): string {
  const place = file === undefined ? "" : `${file}:${line}:${column}: `;
  return printable(`${place}warning: ${longText(text)}`);
}

type BlockMerge = Extract<RunEvent, { type: "block-merge" }>;

const FENCE = /^ {0,3}(?:`{3,}|~{3,})/;
const HEADING = /^#+ /;

/** What a document has got, for people: by which operation and where, and the text; the empty text when nothing is new. */
export function mergedBlock(
  event: BlockMerge,
  { name, depth, paint }: { readonly name: string; readonly depth: number; readonly paint: Paint },
): string {
  const text = event.inserted.trimEnd();
  if (text === "" && event.removed === "") return "";
  const indent = "  ".repeat(depth);
  const head = `${indent}${paint("green", event.mode === "replace" ? "~" : "+")} ${printableLine(name)}${
    paint("dim", placeOf(event))
  }\n`;
  return head +
    textLines(text, paint).map((line) => `${indent}${paint("dim", "│")} ${line}`.trimEnd() + "\n").join("");
}

function placeOf({ mode, target }: BlockMerge): string {
  const at = target === undefined ? undefined : printableLine(target);
  switch (mode) {
    case "append":
      return at === undefined ? "" : `  to ${at}`;
    case "prepend":
      return `  before ${at ?? "itself"}`;
    case "replace":
      return `  in place of ${at ?? "itself"}`;
    default:
      return mode satisfies never;
  }
}

/** Headings stand out, unless they are in a fence. */
function textLines(text: string, paint: Paint): readonly string[] {
  if (text === "") return [];
  let isFenced = false;
  return printable(longText(text)).split("\n").map((line) => {
    if (FENCE.test(line)) isFenced = !isFenced;
    return !isFenced && HEADING.test(line) ? paint("bold", line) : line;
  });
}
