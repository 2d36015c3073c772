/** Why a value is no line of a record. */
export interface RecordLineProblem {
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
const has = (fields: Fields) => (value: unknown): boolean => {
  const object = fieldsOf(value);
  return object !== undefined && Object.entries(fields).every(([name, check]) => check(object[name]));
};

const isStoredFile = has({ path: isText, text: isText });
const isStepError = has({ message: isText, code: maybe(isText), flag: maybe(isText) });
const isOutcome = (value: unknown): boolean => {
  const outcome = fieldsOf(value);
  return outcome !== undefined && (Object.hasOwn(outcome, "ok") || isStepError(outcome.error));
};

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
export function recordLineProblem(value: unknown, isFirst: boolean): RecordLineProblem | undefined {
  const line = fieldsOf(value);
  if (line === undefined) return { message: 'Expected an object with a "type"' };
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

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : undefined;
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? "none";
  return text.length <= 60 ? text : `${text.slice(0, 59)}…`;
}
