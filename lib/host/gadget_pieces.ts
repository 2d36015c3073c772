// A result that comes piece by piece: text, or bytes of UTF-8 (gadgets.md 1).

import type { OpenCall } from "./gadget_call.ts";
import { asyncIterator, isArray, isBytes, partOf, startOf, textReader } from "./gadget_primordials.ts";
import { ResultError } from "./gadget_result.ts";

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
