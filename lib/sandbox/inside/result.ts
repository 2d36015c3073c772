// The result of a call as it is sent.

import type { FromGadget } from "../../core/gadget_message.ts";
import { type Json, notResultText, toJson } from "../../core/json.ts";
import type { RunningCall } from "./calls.ts";
import { startOf, thrownError } from "./thrown.ts";

/** The result is none: no JSON, or a stream of something else than text. */
export class ResultError extends TypeError {
  override readonly name = "ResultError";
}

/** How a result is told. */
export interface ResultOptions {
  /** Of the call. */
  readonly id: number;
  readonly gadgetName: string;
  /** Of it as JSON, in UTF-8. */
  readonly maxResultBytes: number;
}

/**
 * The message with the result of a call. What is too long is told as the beginning of its text, or of its JSON where it is no text, with the
 * size of the whole.
 *
 * @throws {ResultError} when it is no JSON
 */
export function resultMessage(
  given: unknown,
  { id, gadgetName, maxResultBytes }: ResultOptions,
): Extract<FromGadget, { readonly type: "result" }> {
  if (typeof given === "string" && given.length > maxResultBytes) {
    return { type: "result", id, value: beginning(given, maxResultBytes), wholeBytes: utf8Length(given) };
  }
  const value = jsonOf(given, gadgetName);
  const json = JSON.stringify(value);
  if (json.length * 3 <= maxResultBytes) return { type: "result", id, value }; // no unit of UTF-16 takes more bytes
  const length = utf8Length(json);
  if (length <= maxResultBytes) return { type: "result", id, value };
  const text = typeof value === "string" ? value : json;
  const wholeBytes = text === json ? length : utf8Length(text);
  return { type: "result", id, value: beginning(text, maxResultBytes), wholeBytes };
}

/** @throws {ResultError} when it is no JSON */
function jsonOf(given: unknown, gadgetName: string): Json {
  try {
    return toJson(given);
  } catch (error) {
    throw new ResultError(notResultText(gadgetName, thrownError(error).message));
  }
}

/** UTF-16 units of a piece as it is sent, or looked at. */
const MOST_PIECE = 65_536;

/** As much of a text as fits, as JSON. */
function beginning(text: string, maxBytes: number): string {
  let left = maxBytes;
  let end = 0;
  for (const part of parts(text)) {
    left -= utf8Length(JSON.stringify(part)) - 2;
    if (left < 0) break;
    end += part.length;
  }
  return text.slice(0, end);
}

/** How many bytes of UTF-8 a text takes, without a copy of it. */
function utf8Length(text: string): number {
  const encoder = new TextEncoder();
  const bytes = new Uint8Array(3 * MOST_PIECE);
  let length = 0;
  for (const part of parts(text)) length += encoder.encodeInto(part, bytes).written;
  return length;
}

/** A text in parts, none of which ends inside of a character. */
function* parts(text: string): Generator<string> {
  for (let at = 0; at < text.length;) {
    const part = startOf(text.slice(at, at + MOST_PIECE + 1), MOST_PIECE);
    yield part;
    at += part.length;
  }
}

/** Whether a value comes piece by piece. */
export function isStream(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === "object" && value !== null && Symbol.asyncIterator in value;
}

/**
 * Sends what comes, each piece when there is room for it, until it ends or the call does; then the source is closed.
 *
 * @throws {ResultError} when something else than text comes, and what the source throws
 */
export async function sendPieces(
  stream: AsyncIterable<unknown>,
  { call, gadgetName, send }: {
    readonly call: RunningCall;
    readonly gadgetName: string;
    readonly send: (text: string) => void;
  },
): Promise<void> {
  const decoder = new TextDecoder();
  const sendText = async (text: string): Promise<void> => {
    for (const part of parts(text)) {
      await call.takeRoom();
      if (call.state !== "open") return;
      send(part);
    }
  };
  for await (const piece of stream) {
    if (call.state !== "open") return;
    if (typeof piece !== "string" && !(piece instanceof Uint8Array)) throw notText(piece, gadgetName);
    await sendText(typeof piece === "string" ? piece : decoder.decode(piece, { stream: true }));
    if (call.state !== "open") return;
  }
  await sendText(decoder.decode());
}

function notText(piece: unknown, gadgetName: string): ResultError {
  const found = piece === null ? "null" : Array.isArray(piece) ? "an array" : `a ${typeof piece}`;
  return new ResultError(
    `The stream of ${gadgetName} gave ${found}; a streamed result is text, or bytes of UTF-8`,
  );
}
