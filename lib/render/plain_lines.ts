import type { RunEvent } from "../core/event.ts";
import { duration } from "./duration.ts";
import { BlankLines } from "./blank_lines.ts";
import { longText } from "./long_text.ts";
import { printable, printableLine } from "./printable.ts";
import type { RunTally } from "./run_tally.ts";
import { emptyTally, tallyAfter, tallyLine } from "./run_tally.ts";

/** How much is told. */
export interface PlainLinesOptions {
  /** How errors name the file, such as `release.calls`. */
  readonly file: string;
  /** Only errors and skips. */
  readonly quiet?: boolean;
}

/** Turns the events of a run into lines for a log file or a pipe: one for each call that ended, with its time. */
export class PlainLines {
  readonly #file: string;
  readonly #quiet: boolean;
  readonly #calls = new Map<string, { readonly gadgetName: string; readonly ranAt: number | undefined }>();
  #tally: RunTally = emptyTally;
  readonly #blankLines = new BlankLines();
  #atLineStart = true;

  constructor(options: PlainLinesOptions) {
    this.#file = options.file;
    this.#quiet = options.quiet ?? false;
  }

  /** What the event adds to the log; the empty text when it adds nothing. */
  text(event: RunEvent): string {
    const call = "invocationId" in event ? this.#calls.get(keyOf(event)) : undefined;
    const lines = this.#lines(event, call);
    this.#remember(event, call);
    if (event.type === "text-delta") return this.#quiet ? "" : this.#textOutside(event.text);
    return lines.length === 0 && event.type !== "run-end" ? "" : this.#ownLines(lines);
  }

  /** A line of our own about the run; the empty text when only errors are told. */
  notice(text: string): string {
    return this.#quiet ? "" : this.#ownLines([`  warn  ${printable(longText(text))}`]);
  }

  #lines(event: RunEvent, call: { gadgetName: string; ranAt: number | undefined } | undefined): string[] {
    const name = (id: string) => `${printableLine(id)}  ${printableLine(call?.gadgetName ?? "?")}`;
    const time = call?.ranAt === undefined ? "" : `  ${duration(event.at - call.ranAt)}`;
    switch (event.type) {
      case "call-result":
        return this.#quiet ? [] : [`  ok    ${name(event.invocationId)}${time}`];
      case "call-error":
        return [
          `  error ${name(event.invocationId)}${time}`,
          ...indented(`${this.#place(event.line)}: ${event.error}`),
        ];
      case "call-skip":
        return [
          `  skip  ${name(event.invocationId)}`,
          ...indented(`${this.#place(event.line)}: ${event.reason}`),
        ];
      case "call-log":
        return this.#quiet ? [] : logLines(printableLine(event.invocationId), event.text);
      case "warning":
        return this.#quiet ? [] : [`  warn  ${warningText(event)}`];
      case "run-end":
        return this.#endLines(event);
      case "run-start":
      case "text-delta":
      case "call-open":
      case "call-run":
      case "call-progress":
        return [];
      default:
        return event satisfies never;
    }
  }

  #endLines(event: Extract<RunEvent, { type: "run-end" }>): string[] {
    const errors = event.error === undefined ? [] : printable(longText(event.error)).split("\n");
    const lines = errors.map((line) => `error: ${line}`);
    return this.#quiet || this.#tally.opened === 0 ? lines : [...lines, tallyLine(this.#tally, event.at)];
  }

  #remember(event: RunEvent, call: { gadgetName: string; ranAt: number | undefined } | undefined): void {
    this.#tally = tallyAfter(this.#tally, event, call?.ranAt !== undefined);
    if (event.type === "call-open") {
      this.#calls.set(keyOf(event), { gadgetName: event.gadgetName, ranAt: undefined });
    } else if (event.type === "call-run" && call !== undefined) {
      this.#calls.set(keyOf(event), { ...call, ranAt: event.at });
    } else if (isOutcome(event)) this.#calls.delete(keyOf(event));
  }

  #place(line: number): string {
    return `${printableLine(this.#file)}:${line}`;
  }

  #textOutside(text: string): string {
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

/** Two calls may be written with one id (calls.md 2): the line tells them apart. */
export function keyOf(event: { readonly invocationId: string; readonly line: number }): string {
  return `${event.invocationId}@${event.line}`;
}

/** Whether the event is the one that ends a call. */
export function isOutcome(
  event: RunEvent,
): event is Extract<RunEvent, { type: "call-result" | "call-error" | "call-skip" }> {
  return event.type === "call-result" || event.type === "call-error" || event.type === "call-skip";
}

/** `file:line:column: text`, as far as the place is known. */
export function warningText(event: Extract<RunEvent, { type: "warning" }>): string {
  const place = [event.file, event.line, event.column].filter((part) => part !== undefined).join(":");
  return printable(longText(place === "" ? event.text : `${place}: ${event.text}`));
}

function indented(text: string): string[] {
  return printable(longText(text)).split("\n").map((line) => `        ${line}`);
}

function logLines(id: string, text: string): string[] {
  return printable(longText(text.replace(/\r?\n$/, ""))).split("\n").map((line) => `  log   ${id}  ${line}`);
}
