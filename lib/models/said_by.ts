import { isRecord, type Json } from "../core/json.ts";

const MOST = 300;

/** Takes keys out of a text: before it is cut, since nobody knows half a key again. */
interface Masking {
  mask(text: string): string;
}

/** What a provider says in the body of an answer that is no stream: the message of its JSON, the title of its page, or its text. */
export function saidBy(body: string, masking: Masking): string {
  const text = body.trim();
  if (text === "") return "nothing";
  if (text.startsWith("<")) return `a page of HTML${titleOf(text, masking)}`;
  const json = maybeJson(text);
  return shortened(json === undefined ? text : maybeMessage(json) ?? text, masking);
}

/** The message of an error as providers write it: `{error: {message}}`, `{error}`, `{message}`, `{detail}`, or such things in a list. */
export function maybeMessage(json: Json | undefined): string | undefined {
  if (typeof json === "string") return json;
  if (Array.isArray(json)) return maybeMessage(json[0]);
  if (!isRecord(json)) return undefined;
  return maybeMessage(json.error) ?? maybeMessage(json.message) ?? maybeMessage(json.detail) ??
    maybeMessage(json.response);
}

/** The text on one line, its end cut off when it is long. */
export function shortened(text: string, masking?: Masking): string {
  const line = (masking?.mask(text) ?? text).replaceAll(/\s+/g, " ").trim();
  return line.length > MOST ? `${line.slice(0, MOST)}…` : line;
}

function titleOf(page: string, masking: Masking): string {
  const title = /<title[^>]*>([^<]*)</i.exec(page)?.[1]?.trim();
  return title ? ` titled ${JSON.stringify(shortened(title, masking))}` : "";
}

function maybeJson(text: string): Json | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
