// Events of a run as lines for a log file or a pipe.
import type { RunEvent } from "../core/event.ts";
import type { Paint } from "./cells.ts";
import { createRows, type RunRow, type RunRows } from "./rows.ts";
import { tallyLine } from "./run_tally.ts";
import {
  BlankLines,
  duration,
  InterimText,
  isInsideCall,
  longText,
  printable,
  printableLine,
  thoughtWords,
  withUsage,
} from "./shown_text.ts";
import { placeWords } from "./step_words.ts";

type EventOf<Type extends RunEvent["type"]> = Extract<RunEvent, { readonly type: Type }>;

/** Which text of a run is shown: all; what a model says on the way to its answer; none, because somebody else shows it. */
export type ShownText = "all" | "interim" | "none";

/** How much is told. */
export interface PlainLinesOptions {
  /** How errors name the file, such as `release.calls`. */
  readonly file: string;
  /** Only errors and skips. */
  readonly quiet?: boolean;
  /** Default `all`. */
  readonly shownText?: ShownText;
}

/** Turns the events of a run into lines: one for each call that ended, with its time. */
export class PlainLines {
  readonly rows: RunRows;
  protected readonly isQuiet: boolean;
  readonly #file: string;
  readonly #shownOf: (event: RunEvent) => string;
  readonly #blankLines = new BlankLines();
  #atLineStart = true;

  constructor({ file, quiet = false, shownText = "all" }: PlainLinesOptions, rows: RunRows = createRows()) {
    this.rows = rows;
    this.isQuiet = quiet;
    this.#file = file;
    this.#shownOf = shownOf(shownText);
  }

  /** What the event adds to the log; the empty text when it adds nothing. */
  text(event: RunEvent): string {
    const lines = this.lines(event, this.rows.take(event));
    const text = this.isQuiet ? "" : this.#textOutside(this.#shownOf(event));
    const isEmpty = lines.length === 0 && event.type !== "run-end";
    return isEmpty ? text : text + this.#ownLines(lines);
  }

  /** A line of our own about the run; the empty text when only errors are told. */
  notice(text: string): string {
    return this.isQuiet ? "" : this.#ownLines([`  warn  ${printable(longText(text))}`]);
  }

  /** A line that something besides the run says; the empty text when only errors are told. */
  log(source: string, text: string): string {
    return this.isQuiet ? "" : this.#ownLines(logLines(printableLine(source), text));
  }

  /** @param row that the event is about */
  protected lines(event: RunEvent, row: RunRow | undefined): readonly string[] {
    switch (event.type) {
      case "call-result":
        return this.isQuiet ? [] : [`  ok    ${this.#callWords(event, row)}`];
      case "call-error":
        return [`  error ${this.#callWords(event, row)}`, ...this.#why(event.line, event.error)];
      case "call-skip":
        return [`  skip  ${this.#callWords(event, row)}`, ...this.#why(event.line, event.reason)];
      case "run-end":
        return this.#endLines(event);
      case "step-end":
        return this.#modelLines(event, row);
    }
    if (this.isQuiet) return [];
    switch (event.type) {
      case "call-log":
        return logLines(printableLine(event.invocationId), event.text);
      case "warning":
        return [`  warn  ${warningText(event)}`];
      case "permission-answer": { // where nobody could be asked, the error of the call says it all
        const { reason, subject, permissions } = event;
        const why = reason === "" ? "" : ` (${reason})`;
        return this.allowLines(event, `${subject}: ${permissions.join(", ")}${why}`);
      }
      default:
        return []; // the question itself is there for whoever can answer it
    }
  }

  protected allowLines({ allowed, reason }: EventOf<"permission-answer">, words: string): readonly string[] {
    return reason === "nobody" ? [] : [`  ${allowed ? "allow" : "deny "} ${printableLine(words)}`];
  }

  #callWords(
    { invocationId, at }: EventOf<"call-result" | "call-error" | "call-skip">,
    row?: RunRow,
  ): string {
    const ms = row && this.rows.msOf(row, at);
    const time = ms === undefined ? "" : `  ${duration(ms)}`;
    return `${printableLine(invocationId)}  ${printableLine(row?.name ?? "?")}${time}`;
  }

  /** A call of a provider has no line. */
  #why(line: number, reason: string): readonly string[] {
    const file = printableLine(this.#file);
    const text = `${line === 0 ? file : `${file}:${line}`}: ${reason}`;
    return printable(longText(text)).split("\n").map((each) => `        ${each}`);
  }

  #endLines({ error, at }: EventOf<"run-end">): readonly string[] {
    const errors = error === undefined ? [] : printable(longText(error)).split("\n");
    const lines = errors.map((line) => `error: ${line}`);
    const { tally } = this.rows;
    const hasOne = tally.opened === 0 && tally.answers < 2; // its own line has said it
    return this.isQuiet || hasOne ? lines : [...lines, tallyLine(tally, at)];
  }

  #modelLines({ ms, error }: EventOf<"step-end">, row?: RunRow): readonly string[] {
    if (row?.kind !== "model" || this.isQuiet || error?.code === "aborted") return []; // a stop is told as one
    const head = `${printableLine(row.answer?.model ?? row.name)}  ${duration(ms)}`;
    if (error !== undefined) return [`  error ${head}`]; // what it was is told where it has an effect
    return [...this.thoughtLines(row), withUsage(`  model ${head}`, { usage: row.answer, before: "  " })];
  }

  protected thoughtLines({ thought }: RunRow): readonly string[] {
    return thought === undefined ? [] : [`  ${thoughtWords(thought)}`];
  }

  #textOutside(text: string): string {
    if (text === "") return "";
    const shown = printable(this.#blankLines.fold(text));
    if (shown !== "") this.#atLineStart = shown.endsWith("\n");
    return shown;
  }

  #ownLines(lines: readonly string[]): string {
    const start = this.#atLineStart ? "" : "\n";
    this.#atLineStart = true;
    return start + lines.map((line) => `${line}\n`).join("");
  }
}

/** What each event adds to the text that is shown. */
export function shownOf(shownText: ShownText, interim = new InterimText()): (event: RunEvent) => string {
  if (shownText === "interim") return (event) => interim.take(event);
  return (event) =>
    event.type === "text-delta" && shownText === "all" && !isInsideCall(event.step) ? event.text : "";
}

/** `file:line:column: text`, as far as the place is known. */
export function warningText(event: EventOf<"warning">): string {
  const place = placeWords(event);
  return printable(longText(place === "" ? event.text : `${place}: ${event.text}`));
}

function logLines(id: string, text: string): readonly string[] {
  return printable(longText(text.replace(/\r?\n$/, ""))).split("\n").map((line) => `  log   ${id}  ${line}`);
}

/** How much is told of a document. */
export interface DocumentLinesOptions {
  /** Only errors. */
  readonly quiet?: boolean;
  /** Only errors and warnings: somebody else shows the operations. */
  readonly problemsOnly?: boolean;
  /** Whether an operation did what an earlier run had done already. Default: none did. */
  readonly isReused?: (key: string) => boolean;
}

/**
 * Turns the events of a document's run into lines: one for each operation that ended, and errors and warnings in the form of
 * documents.md 1.3.
 */
export class DocumentLines extends PlainLines {
  readonly #isBrief: boolean;
  #lastError: string | undefined;
  /** Of a document that runs itself: each of those around it fails with the same words, and the outermost tells them. */
  #endless: readonly string[] = [];

  constructor({ quiet = false, problemsOnly = false, isReused }: DocumentLinesOptions = {}) {
    super({ file: "", quiet, shownText: "none" }, createRows(isReused));
    this.#isBrief = quiet || problemsOnly;
  }

  protected override lines(event: RunEvent, row: RunRow | undefined): readonly string[] {
    const own = this.#linesOf(event, row);
    if (event.type !== "step-start" && event.type !== "run-end") return own;
    const endless = this.#endless;
    this.#endless = [];
    return [...endless, ...own];
  }

  #linesOf(event: RunEvent, row: RunRow | undefined): readonly string[] {
    switch (event.type) {
      case "step-end":
        if (row?.kind === "model" && !this.#isBrief) return this.thoughtLines(row);
        return row?.kind === "step" ? this.#endOf(event, row) : [];
      case "step-skip":
        return this.#isBrief
          ? []
          : [`  skip  ${printableLine(event.name ?? event.step)}  ${printableLine(event.condition)}`];
      case "warning":
        return this.isQuiet ? [] : [warningLine(event)];
      case "permission-answer":
        return this.#isBrief ? [] : this.allowLines(event, event.permissions.join(", "));
      case "run-end":
        return this.#runEnd(event);
      default:
        return []; // what operations do inside is told by their own lines
    }
  }

  #endOf({ ms, error }: EventOf<"step-end">, { name, state }: RunRow): readonly string[] {
    if (error !== undefined) {
      this.#lastError = error.message;
      const lines = printable(longText(error.message)).split("\n");
      if (!ENDLESS.test(error.message)) return lines;
      this.#endless = lines;
      return [];
    }
    if (this.#isBrief) return [];
    return [`  ${state === "reused" ? "reused" : "ok   "} ${printableLine(name)}  ${duration(ms)}`];
  }

  #runEnd({ error, at }: EventOf<"run-end">): readonly string[] {
    const isTold = error === undefined || error === this.#lastError;
    const errors = isTold ? [] : [`error: ${printable(longText(error))}`];
    const hasTally = !this.#isBrief && this.rows.tally.answers > 0;
    return hasTally ? [...errors, tallyLine(this.rows.tally, at)] : errors;
  }
}

const ENDLESS = / is nested \d+ deep \(.* a document that runs itself never ends$/s;

/** `FILE:LINE:COLUMN: warning: TEXT` (documents.md 1.3). */
function warningLine({ text, file, line = 1, column = 1 }: EventOf<"warning">): string {
  const place = file === undefined ? "" : `${file}:${line}:${column}: `;
  return printable(`${place}warning: ${longText(text)}`);
}

type BlockMerge = EventOf<"block-merge">;

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
