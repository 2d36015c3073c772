// What went into a step and what came of it, as texts that people read: the messages of a model one by one, everything else as it is or as JSON.

import { isJsonObject, type Json, type JsonObject, type StepRecord } from "../../core/core.ts";

/** One value of a step. */
export interface TraceValue {
  /** `input`, `output`, `error`, the role of a message, … */
  readonly title: string;
  readonly side: "in" | "out" | "note";
  readonly text: string;
  /** Whether the text is JSON. */
  readonly isJson: boolean;
}

/** What a model thought before it answered. */
export const THOUGHT = "thought";

/** What stands before a text that is no answer. */
export const BROKEN_OFF = "said before it broke off";

/** Of what may not be done twice, and was under way when its process ended. */
export const END_UNKNOWN = "its end is not known: orrery resume takes --rerun or --skip with its key";

/** The input and the outcome of a step. */
export function stepValues({ kind, input, outcome }: StepRecord): readonly TraceValue[] {
  const given = kind === "model" && isJsonObject(input) ? askedValues(input) : valuesOf(input, "in");
  if (outcome === undefined) return given;
  if ("error" in outcome) return [...given, errorValue(outcome.error.message)];
  const { ok } = outcome;
  return [...given, ...(kind === "model" && isJsonObject(ok) ? answerValues(ok) : valuesOf(ok, "out"))];
}

/** Why something did not work. */
export function errorValue(text: string): TraceValue {
  return { title: "error", side: "out", text, isJson: false };
}

/** Something that was told on the way. */
export function noteValue(title: string, value: Json): TraceValue {
  return { title, side: "note", ...textOfJson(value) };
}

/** What a call gave. */
export function resultValue(value: Json): TraceValue {
  return { title: "output", side: "out", ...textOfJson(value) };
}

/** A text as it is, what was said with media with these named, and everything else as JSON. */
function textOfJson(value: Json): { readonly text: string; readonly isJson: boolean } {
  const text = typeof value === "string" ? value : wordsText(value);
  return text === undefined
    ? { text: JSON.stringify(value, null, 2), isJson: true }
    : { text, isJson: false };
}

/** The text of the parts of a message, media named; undefined for anything else. */
export function wordsText(value: Json): string | undefined {
  if (!Array.isArray(value) || value.length === 0) return undefined;
  const texts = value.map((part: Json) => {
    if (!isJsonObject(part)) return undefined;
    const { type, text, mediaType, name = "", size } = part;
    if (type === "text") return text;
    return type === "media"
      ? `[${[mediaType, name, `${size} bytes`].filter((word) => word !== "").join(" ")}]`
      : undefined;
  });
  return texts.every((text) => typeof text === "string") ? texts.join("\n") : undefined;
}

function valuesOf(value: Json, side: "in" | "out"): readonly TraceValue[] {
  if (value === null) return [];
  return [{ title: side === "in" ? "input" : "output", side, ...textOfJson(value) }];
}

/** A request as the journal has it: `{ messages, about }`, of a later turn the new messages alone. */
function askedValues({ messages, ...rest }: JsonObject): readonly TraceValue[] {
  const said = Array.isArray(messages) ? messages.flatMap(messageValues) : [];
  const settings = isJsonObject(rest.about ?? null) ? withoutEmpty(rest.about ?? null) : withoutEmpty(rest);
  return [...said, ...(settings === undefined ? [] : [named("request", "in", settings)])];
}

function messageValues(message: Json): readonly TraceValue[] {
  if (!isJsonObject(message)) return valuesOf(message, "in");
  const { role = "message", name, content = "", calls } = message;
  const title = typeof name === "string" ? `${String(role)} ${name}` : String(role);
  return [
    ...(content === "" ? [] : [named(title, "in", content)]),
    ...(Array.isArray(calls) ? calls.map((call) => callValue(call, "in")) : []),
  ];
}

function answerValues({ text, calls, reasoning, finish, ...rest }: JsonObject): readonly TraceValue[] {
  const { usage: _usage, model: _model, ...other } = rest; // both stand in the row
  const isUsual = finish === undefined || finish === "stop" || finish === "calls";
  const settings = withoutEmpty({ ...other, ...(isUsual ? {} : { finish }) });
  return [
    ...listed(reasoning).map((thought) => named(THOUGHT, "out", textIn(thought))),
    ...(text === undefined || text === "" ? [] : [named("answer", "out", text)]),
    ...listed(calls).map((call) => callValue(call, "out")),
    ...(settings === undefined ? [] : [named("besides", "out", settings)]),
  ];
}

function callValue(call: Json, side: "in" | "out"): TraceValue {
  if (!isJsonObject(call)) return named("call", side, call);
  const { name = "", arguments: given = "" } = call;
  return named(`call ${String(name)}`, side, typeof given === "string" ? parsed(given) : given);
}

/** What a model wrote as JSON is shown as JSON, if it is any. */
function parsed(text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function named(title: string, side: "in" | "out", value: Json): TraceValue {
  return { title, side, ...textOfJson(value) };
}

function listed(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}

function textIn(value: Json): Json {
  return isJsonObject(value) && typeof value.text === "string" ? value.text : value;
}

/** Undefined when nothing is left without what is null or empty. */
function withoutEmpty(value: Json): Json | undefined {
  if (!isJsonObject(value)) return value;
  const kept = Object.entries(value).filter(([, each]) =>
    each !== null && each !== "" && !(Array.isArray(each) && each.length === 0)
  );
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
}
