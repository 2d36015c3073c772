// The schemas that several routes have in common: what comes in is checked by them, and the OpenAPI document has each of them once.

import { KINDS } from "../../service/kinds/kinds.ts";
import { EFFORTS, type JsonSchema, objectOf } from "../../core/core.ts";

/** Longer names of anything are a mistake. */
export const MAX_NAME = 1_000;

/** The name of something, or the path of a file. */
export const NAME = { type: "string", minLength: 1, maxLength: MAX_NAME } as const;

/** The id of a run or a conversation. */
export const ID = {
  type: "string",
  pattern: "^[\\w:@-][\\w.:@-]{0,99}$",
  description: "The id of a run",
} as const;

/** The path of a route with `{id}`. */
export const ID_PARAMS = objectOf({ id: ID }, ["id"]);

/** The same of a route that only looks. */
export const BEGINNING_PARAMS = objectOf({
  id: {
    ...ID,
    description: "The id of a run, or its beginning: at least 4 characters that no other one begins with",
  },
}, ["id"]);

/** What a run may use up. */
export const BUDGET = {
  type: "object",
  description: "What it may use up; what is absent has no bound",
  properties: {
    turns: { type: "integer", minimum: 1, description: "Model calls" },
    tokens: { type: "integer", minimum: 1, description: "Of all model calls" },
    cost: { type: "number", minimum: 0, description: "US dollars" },
    timeMs: { type: "integer", minimum: 1, description: "Milliseconds" },
  },
  additionalProperties: false,
} as const;

/** Whether things may be asked about. */
export const ASK = {
  type: "boolean",
  description:
    "Whether what is not granted is asked about, by an ask event; without it that is refused at once",
} as const;

/** Whether events are wanted. */
export const STREAM = {
  type: "boolean",
  description: "Whether the answer is the stream of events; without it Accept: text/event-stream says so",
} as const;

/** The problems of a route about something that may not be there. */
export const MAY_LACK = { 404: ["not-found"] } as const;

/** Those of a route that starts something. */
export const MAY_NOT_START = {
  422: ["check", "model"],
  429: ["limit"],
  503: ["stopping", "readers"],
} as const;

/** An answer that is a list under a name. */
export function listOf(name: string, items: JsonSchema): JsonSchema {
  return objectOf({ [name]: { type: "array", items } }, [name]);
}

/** The name of a model. */
export const MODEL = { ...NAME, description: "provider/model, or an alias of models.aliases" } as const;

/** How hard models think. */
export const EFFORT = {
  enum: EFFORTS,
  description: "How hard models think before they answer, whatever files and profiles say",
} as const;

/** Any object. */
const OBJECT = { type: "object" } as const satisfies JsonSchema;

const TEXT = { type: "string" } as const;
const COUNT = { type: "integer", minimum: 0 } as const;

const USAGE = objectOf({
  input: COUNT,
  output: COUNT,
  cached: COUNT,
  reasoning: COUNT,
  cost: { type: "number", description: "US dollars; absent where the price is not known" },
}, ["input", "output"]);

const OPEN_ASK = objectOf({
  ask: {
    type: "string",
    description: "a1, a2, …; never the same again in its run, also when that is gone on with",
  },
  kind: { enum: ["permission", "question"] },
  subject: TEXT,
  permissions: { type: "array", items: TEXT },
  question: TEXT,
  choices: { type: "array", items: TEXT },
}, ["ask", "kind", "question"]);

const STATUS = { enum: ["running", "done", "failed", "stopped", "held", "completed"] } as const;
const KIND = { enum: KINDS.map(({ name }) => name) } as const;

const FLAG = { type: "boolean" } as const;

const SHOWS = {
  ...objectOf({
    asItComes: { ...FLAG, description: "Its answer is any text: it may be shown while it comes" },
    isJson: { ...FLAG, description: "A value that is text is JSON too" },
    endsLine: { ...FLAG, description: "A line end is put behind a value that is text" },
    marker: { ...TEXT, description: "Of a text of calls: what a call begins with" },
  }, []),
  description: "How orrery run shows what comes of it",
} as const;

const RUN_STATE = objectOf({
  id: TEXT,
  kind: KIND,
  status: STATUS,
  owned: { type: "boolean", description: "Whether a process that lives has it" },
  file: TEXT,
  startedAt: { type: "number", description: "ms since 1970" },
  ms: { type: "number" },
  usage: USAGE,
  steps: COUNT,
  value: { description: "What it gave" },
  error: TEXT,
  reason: TEXT,
  hasFailed: { const: true, description: "It is stopped since what it did last has failed; it can go on" },
  calls: { type: "array", items: OBJECT, description: "As orrery run --json has them" },
  asks: { type: "array", items: OPEN_ASK },
  shows: SHOWS,
}, ["id", "kind", "status", "owned", "startedAt", "ms", "usage", "steps", "asks"]);

const STARTED = objectOf({
  id: TEXT,
  kind: KIND,
  status: STATUS,
  url: { type: "string", description: "Where its state is" },
  events: { type: "string", description: "Where its events are" },
}, ["id", "kind", "status", "url", "events"]);

const TALK_STATE = objectOf({
  id: TEXT,
  agent: TEXT,
  status: { enum: ["held", "completed", "failed", "running"] },
  turns: COUNT,
  messages: {
    type: "array",
    items: objectOf({
      n: COUNT,
      role: { enum: ["user", "assistant"] },
      text: TEXT,
      media: {
        type: "array",
        description: "What was shown with it",
        items: objectOf({ mediaType: TEXT, name: TEXT, size: COUNT, sha256: TEXT }, ["mediaType", "size"]),
      },
      answered: {
        const: false,
        description: "Of what was said last, while its turn goes on or has been interrupted",
      },
    }, ["n", "role", "text"]),
  },
  slots: OBJECT,
  step: { type: "string", description: "The step that waits for the person" },
  error: TEXT,
  interrupted: { const: true, description: "Its last turn did not fail: it was stopped" },
  usage: USAGE,
  asks: { type: "array", items: OPEN_ASK },
}, ["id", "agent", "status", "turns", "messages", "slots", "usage", "asks"]);

const FILE_PROBLEM = objectOf({
  code: TEXT,
  severity: { enum: ["error", "warning"] },
  message: TEXT,
  file: TEXT,
  line: COUNT,
  column: COUNT,
  hint: TEXT,
}, ["code", "severity", "message", "file", "line", "column"]);

const PROBLEM = {
  type: "object",
  description: "RFC 9457",
  properties: {
    type: TEXT,
    title: TEXT,
    status: { type: "integer" },
    detail: { type: "string", description: "What was found, what was expected, what to do" },
    code: { type: "string", description: "A short stable name for programs" },
    file: TEXT,
    line: COUNT,
    column: COUNT,
    problems: { type: "array", items: OBJECT },
  },
  required: ["type", "title", "status", "detail", "code"],
} as const;

const EVENTS = {
  type: "string",
  description:
    "Server-sent events: event is the type, id its seq, data the event as JSON. Without an id: ask (a question that is open), answered, and gap " +
    "(events up to seq are not held any more). A comment every 15 s. Last-Event-ID goes on behind that event.",
} as const;

/** Those that have a name in the OpenAPI document. */
export const SCHEMAS = {
  Budget: BUDGET,
  Events: EVENTS,
  FileProblem: FILE_PROBLEM,
  OpenAsk: OPEN_ASK,
  Problem: PROBLEM,
  RunState: RUN_STATE,
  Started: STARTED,
  TalkState: TALK_STATE,
  Usage: USAGE,
} as const;

/** The answer that is a stream of events. */
export const EVENT_ANSWER = {
  description: "The events of the run",
  type: "text/event-stream",
  schema: EVENTS,
} as const;
