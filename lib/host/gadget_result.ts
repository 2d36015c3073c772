// What a gadget gives, as the frame that tells it. It may be nearly as large as what the process may hold at all, so no copy is made of the
// whole: it is written part by part, as bytes, which lie outside of the heap.

import { notResultText } from "../core/json.ts";
import { BoundedBytes } from "./gadget_bounded_bytes.ts";
import { frameOf, frameOfParts } from "./gadget_frames.ts";
import { eachPart, writeJson } from "./gadget_json.ts";
import { OwnTypeError, partOf, quote, textOf, utf8Length } from "./gadget_primordials.ts";
import { thrownError } from "./gadget_thrown.ts";

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
