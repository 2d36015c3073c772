// What a gadget gives, as the frame that tells it. It may be nearly as large as what the process may hold at all, so no copy is made of the
// whole: it is written part by part, as bytes, which lie outside of the heap.

import { notResultText } from "../../core/json.ts";
import { BoundedBytes } from "./bounded_bytes.ts";
import { frameOf, frameOfParts } from "./frames.ts";
import { eachPart, writeJson } from "./json.ts";
import {
  asyncIterator,
  isArray,
  isBytes,
  OwnTypeError,
  partOf,
  quote,
  startOf,
  textOf,
  textReader,
  utf8Length,
} from "./primordials.ts";
import { thrownError } from "./thrown.ts";
import type { OpenCall } from "./call.ts";

/** The result is none: no JSON, or a stream of something else than text. */
export class ResultError extends OwnTypeError {
  override readonly name = "ResultError";
}

/** How a result is told. */
export interface ResultFrameOptions {
  /** Of the call. */
  readonly id: number;
  readonly gadgetName: string;
  /** Of it as JSON, in UTF-8. */
  readonly maxResultBytes: number;
}

/**
 * The frame with the result of a call. What is too long is told as the beginning of its text, or of its JSON where it is no text, with the
 * size of the whole.
 *
 * @throws {ResultError} when it is no JSON
 */
export function resultFrame(given: unknown, options: ResultFrameOptions): Uint8Array<ArrayBuffer> {
  const { id, maxResultBytes } = options;
  if (typeof given === "string" && given.length > maxResultBytes) return cutFrame(given, options);
  const json = new BoundedBytes(maxResultBytes);
  write(given, json, options);
  const head = `{"type":"result","id":${id},"value":`;
  if (json.text !== undefined) return frameOf(`${head}${json.text}}`);
  if (json.isCut) return cutFrame(typeof given === "string" ? given : json, options);
  const frame = new BoundedBytes(Infinity);
  frame.add(head);
  frame.append(json);
  frame.add("}");
  return frameOfParts(frame);
}

/** @throws {ResultError} when it is no JSON */
function write(given: unknown, json: BoundedBytes, { gadgetName }: ResultFrameOptions): void {
  try {
    writeJson(given, json);
  } catch (error) {
    throw new ResultError(notResultText(gadgetName, thrownError(error).message));
  }
}

function cutFrame(
  text: string | BoundedBytes,
  { id, maxResultBytes }: ResultFrameOptions,
): Uint8Array<ArrayBuffer> {
  const kept = new BoundedBytes(maxResultBytes);
  if (typeof text === "string") addQuoted(text, kept);
  else text.each((bytes) => addQuoted(textOf(bytes), kept));
  const frame = new BoundedBytes(Infinity);
  frame.add(`{"type":"result","id":${id},"value":"`);
  frame.append(kept);
  frame.add(`","wholeBytes":${typeof text === "string" ? utf8Length(text) : text.wholeBytes}}`);
  return frameOfParts(frame);
}

/** A text as JSON without its quotes, as far as there is room for it. */
function addQuoted(text: string, target: BoundedBytes): void {
  eachPart(text, (part) => {
    if (target.isCut) return;
    const quoted = quote(part);
    target.add(partOf(quoted, 1, quoted.length - 1));
  });
}

/** UTF-16 units of a piece as it is sent. */
const MOST_PIECE = 65_536;

/** Whether a value comes piece by piece. */
export function isStream(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === "object" && value !== null && asyncIterator in value;
}

/**
 * Sends what comes, each piece when there is room for it, until it ends or the call does; then the source is closed.
 *
 * @throws {ResultError} when something else than text comes, and what the source throws
 */
export async function sendPieces(
  stream: AsyncIterable<unknown>,
  options: { readonly call: OpenCall; readonly gadgetName: string; readonly send: (text: string) => void },
): Promise<void> {
  const { call, gadgetName, send } = options;
  const read = textReader();
  for await (const piece of stream) {
    if (call.state !== "open") return;
    if (typeof piece !== "string" && !isBytes(piece)) throw notText(piece, gadgetName);
    await sendText(typeof piece === "string" ? piece : read(piece), call, send);
    if (call.state !== "open") return;
  }
  await sendText(read(), call, send);
}

async function sendText(text: string, call: OpenCall, send: (text: string) => void): Promise<void> {
  for (let rest = text; rest !== "";) {
    const part = rest.length <= MOST_PIECE ? rest : startOf(rest, MOST_PIECE);
    rest = partOf(rest, part.length);
    await call.takeRoom();
    if (call.state !== "open") return;
    send(part);
  }
}

function notText(piece: unknown, gadgetName: string): ResultError {
  const found = piece === null ? "null" : isArray(piece) ? "an array" : `a ${typeof piece}`;
  return new ResultError(
    `The stream of ${gadgetName} gave ${found}; a streamed result is text, or bytes of UTF-8`,
  );
}
