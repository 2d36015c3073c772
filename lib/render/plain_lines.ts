import type { RunEvent } from "../core/event.ts";
import type { Usage } from "../core/model.ts";
import {
  BlankLines,
  duration,
  InterimText,
  isInsideCall,
  longText,
  printable,
  printableLine,
  withUsage,
} from "./shown_text.ts";
import type { RunTally } from "./run_tally.ts";
import { emptyTally, tallyAfter, tallyLine } from "./run_tally.ts";

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

/** Turns the events of a run into lines for a log file or a pipe: one for each call that ended, with its time. */
export class PlainLines {
  readonly #file: string;
  readonly #quiet: boolean;
  readonly #shownText: ShownText;
  readonly #interim = new InterimText();
  readonly #calls = new Map<string, { readonly gadgetName: string; readonly ranAt: number | undefined }>();
  readonly #steps = new Map<string, ModelLine>();
  #tally: RunTally = emptyTally;
  readonly #blankLines = new BlankLines();
  #atLineStart = true;

  constructor(options: PlainLinesOptions) {
    this.#file = options.file;
    this.#quiet = options.quiet ?? false;
    this.#shownText = options.shownText ?? "all";
  }

  /** What the event adds to the log; the empty text when it adds nothing. */
  text(event: RunEvent): string {
    const call = "invocationId" in event ? this.#calls.get(keyOf(event)) : undefined;
    const lines = this.#lines(event, call);
    this.#remember(event, call);
    const text = this.#quiet ? "" : this.#textOutside(this.#shownOf(event));
    const isEmpty = lines.length === 0 && event.type !== "run-end";
    return isEmpty ? text : text + this.#ownLines(lines);
  }

  #shownOf(event: RunEvent): string {
    if (this.#shownText === "interim") return this.#interim.take(event);
    const isShown = event.type === "text-delta" && this.#shownText === "all" && !isInsideCall(event.step);
    return isShown ? event.text : "";
  }

  /** A line of our own about the run; the empty text when only errors are told. */
  notice(text: string): string {
    return this.#quiet ? "" : this.#ownLines([`  warn  ${printable(longText(text))}`]);
  }

  /** A line that something besides the run says; the empty text when only errors are told. */
  log(source: string, text: string): string {
    return this.#quiet ? "" : this.#ownLines(logLines(printableLine(source), text));
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
      case "step-end":
        return this.#modelLines(event);
      case "permission-answer":
        // Where nobody could be asked, the error of the call says it all.
        return this.#quiet || event.reason === "nobody"
          ? []
          : [`  ${event.allowed ? "allow" : "deny "} ${permissionText(event)}`];
      case "permission-ask": // the question itself is there for whoever can answer it
      case "run-start":
      case "step-start":
      case "message":
      case "usage":
      case "text-delta":
      case "call-open":
      case "call-run":
      case "call-progress":
      case "step-skip":
      case "jump":
      case "slot-set":
      case "hold":
      case "block-merge":
        return [];
      default:
        return event satisfies never;
    }
  }

  #endLines(event: Extract<RunEvent, { type: "run-end" }>): string[] {
    const errors = event.error === undefined ? [] : printable(longText(event.error)).split("\n");
    const lines = errors.map((line) => `error: ${line}`);
    const hasOne = this.#tally.opened === 0 && this.#tally.answers < 2; // its own line has said it
    return this.#quiet || hasOne ? lines : [...lines, tallyLine(this.#tally, event.at)];
  }

  #modelLines({ key, ms, error }: Extract<RunEvent, { type: "step-end" }>): string[] {
    const step = this.#steps.get(key);
    if (step === undefined || this.#quiet || error?.code === "aborted") return []; // a stop is told as one
    const head = `${printableLine(step.name)}  ${duration(ms)}`;
    if (error !== undefined) return [`  error ${head}`]; // what it was is told where it has an effect
    return [withUsage(`  model ${head}`, { usage: step.usage, before: "  " })];
  }

  #remember(event: RunEvent, call: { gadgetName: string; ranAt: number | undefined } | undefined): void {
    this.#tally = tallyAfter(this.#tally, event, call?.ranAt !== undefined);
    if (event.type === "call-open") {
      this.#calls.set(keyOf(event), { gadgetName: event.gadgetName, ranAt: undefined });
    } else if (event.type === "call-run" && call !== undefined) {
      this.#calls.set(keyOf(event), { ...call, ranAt: event.at });
    } else if (isOutcome(event)) this.#calls.delete(keyOf(event));
    if (event.type === "step-start" && event.kind === "model") {
      this.#steps.set(event.key, { name: event.name });
    } else if (event.type === "usage") this.#steps.set(event.step, { name: event.model, usage: event });
    else if (event.type === "step-end") this.#steps.delete(event.key);
  }

  #place(line: number): string {
    const file = printableLine(this.#file);
    return line === 0 ? file : `${file}:${line}`; // a call of a provider has no line
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

interface ModelLine {
  readonly name: string;
  readonly usage?: Usage;
}

/** Two calls may be written with one id (calls.md 2), in one text or by several answers of a model: step and line tell them apart. */
export function keyOf(
  event: { readonly step?: string; readonly invocationId: string; readonly line: number },
): string {
  return `${event.step ?? ""} ${event.invocationId}@${event.line}`;
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

/** `NAME: words: reason` */
function permissionText(
  event: Extract<RunEvent, { type: "permission-ask" | "permission-answer" }>,
): string {
  const { subject, permissions, reason } = event;
  return printableLine(`${subject}: ${permissions.join(", ")}${reason === "" ? "" : ` (${reason})`}`);
}

function indented(text: string): string[] {
  return printable(longText(text)).split("\n").map((line) => `        ${line}`);
}

function logLines(id: string, text: string): string[] {
  return printable(longText(text.replace(/\r?\n$/, ""))).split("\n").map((line) => `  log   ${id}  ${line}`);
}
