import type { Recorder, RecordLine, RunStart } from "../core/journal.ts";
import type { Secrets } from "../core/secrets.ts";
import { SourceError } from "../core/source_error.ts";
import { jsonProblem } from "../core/json_fault.ts";
import { recordLineProblem } from "./record_line_problem.ts";

/** A record as it was read. */
export interface ReadRecord {
  readonly run: RunStart & { readonly id: string };
  /** All lines behind the first. */
  readonly lines: readonly RecordLine[];
}

/**
 * Writes a record as JSON lines (turn.md 3), each with one call of `sink`, its line end included.
 *
 * Secrets are masked within a line: what comes in pieces has to be masked before it is cut into lines.
 */
export function fileRecorder(
  sink: (line: string) => void,
  { secrets }: { readonly secrets?: Secrets } = {},
): Recorder {
  return {
    write: (line) => sink(`${JSON.stringify(secrets === undefined ? line : secrets.maskJson(line))}\n`),
  };
}

/** Reads what {@linkcode fileRecorder} wrote. @throws {SourceError} at the first line that is not one of a record. */
export function readRecord(text: string, { file }: { readonly file: string }): ReadRecord {
  const texts = text.split("\n");
  const isWhole = texts.at(-1) === "";
  if (isWhole) texts.pop();
  const [first, ...lines] = texts.map((line, index) => {
    const place: Place = { file, line: index + 1, text: line, isCut: !isWhole && index === texts.length - 1 };
    return recordLine(place, index === 0);
  });
  if (first?.type !== "run") {
    throw fault({ file, line: 1, text: "", isCut: false }, { message: "The record is empty" });
  }
  const { type: _type, version: _version, ...run } = first;
  return { run, lines };
}

interface Place {
  readonly file: string;
  readonly line: number;
  readonly text: string;
  /** The last line, and without its end. */
  readonly isCut: boolean;
}

function recordLine(place: Place, isFirst: boolean): RecordLine {
  const value = parsedLine(place);
  const problem = recordLineProblem(value, isFirst);
  if (problem !== undefined) throw fault(place, problem);
  return value;
}

/** What it is of is seen to by the caller. */
function parsedLine(place: Place): RecordLine {
  try {
    return JSON.parse(place.text);
  } catch {
    const column = (jsonProblem(place.text)?.start ?? place.text.length) + 1;
    const message = place.text.trim() === ""
      ? "Expected a line of JSON, found an empty one"
      : "This is not JSON";
    const hint = place.isCut ? "The record ends in the middle of a line: what wrote it was ended" : undefined;
    throw fault(place, { message, column, hint });
  }
}

function fault(
  { file, line, text }: Place,
  { message, column = 1, hint }: {
    readonly message: string;
    readonly column?: number;
    readonly hint?: string;
  },
): SourceError {
  return new SourceError(message, {
    span: { file, line, column },
    // Such lines can be very long; what shows them wants the one that is meant at its number.
    source: "\n".repeat(line - 1) + text,
    hint,
  });
}
