import {
  isRecord,
  jsonProblem,
  type Recorder,
  type RecordLine,
  type RunStart,
  type Secrets,
  SourceError,
} from "../core/core.ts";

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

/** Why a value is no line of a record. */
interface RecordLineProblem {
  readonly message: string;
  readonly hint?: string;
}

type Fields = Readonly<Record<string, (value: unknown) => boolean>>;

const VERSION = 1;

const isText = (value: unknown): boolean => typeof value === "string";
const isNumber = (value: unknown): boolean => typeof value === "number";
const isBoolean = (value: unknown): boolean => typeof value === "boolean";
const isJson = (value: unknown): boolean => value !== undefined;
const maybe = (check: (value: unknown) => boolean) => (value: unknown) => value === undefined || check(value);
const has = (fields: Fields) => (value: unknown): boolean =>
  isRecord(value) && Object.entries(fields).every(([name, check]) => check(value[name]));

const isStoredFile = has({ path: isText, text: isText });
const isStepError = has({ message: isText, code: maybe(isText), flag: maybe(isText) });
const isOutcome = (value: unknown): boolean =>
  isRecord(value) && (Object.hasOwn(value, "ok") || isStepError(value.error));

const TYPES: Readonly<Record<string, Fields>> = {
  run: {
    id: isText,
    kind: isText,
    file: maybe(isText),
    files: maybe((value) => Array.isArray(value) && value.every(isStoredFile)),
    input: isJson,
  },
  source: { text: isText },
  step: { key: isText, kind: isText, name: isText, input: isJson, idempotent: isBoolean },
  part: { key: isText, part: isJson },
  outcome: { key: isText, outcome: isOutcome },
  event: { event: has({ type: isText, seq: isNumber, at: isNumber, run: isText }) },
};

/** What is wrong with a line; the first one has to be `run`, of the version that is known, and no other may be. */
function recordLineProblem(line: unknown, isFirst: boolean): RecordLineProblem | undefined {
  if (!isRecord(line)) return { message: 'Expected an object with a "type"' };
  const type = line.type;
  if (isFirst && type !== "run") {
    return {
      message: `Expected a first line of type "run", found ${shown(type)}`,
      hint: "This is no record of a run",
    };
  }
  if (typeof type !== "string" || !Object.hasOwn(TYPES, type)) {
    return { message: `Unknown type ${shown(type)}: expected ${Object.keys(TYPES).join(", ")}` };
  }
  if (!isFirst && type === "run") {
    return { message: 'A second line of type "run"', hint: "A file holds the record of one run" };
  }
  return (type === "run" ? versionProblem(line.version) : undefined) ?? fieldProblem(type, line);
}

function versionProblem(version: unknown): RecordLineProblem | undefined {
  if (version === VERSION) return undefined;
  const message = `The record is of version ${shown(version)}, and this Orrery reads version ${VERSION}`;
  return typeof version === "number" && version > VERSION
    ? { message, hint: "Replay it with the Orrery that wrote it" }
    : { message };
}

function fieldProblem(type: string, line: Readonly<Record<string, unknown>>): RecordLineProblem | undefined {
  const wrong = Object.entries(TYPES[type] ?? {}).find(([name, check]) => !check(line[name]));
  if (wrong === undefined) return undefined;
  const [name] = wrong;
  return { message: `A line of type "${type}" needs another "${name}": found ${shown(line[name])}` };
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? "none";
  return text.length <= 60 ? text : `${text.slice(0, 59)}…`;
}
