// Bodies: counted while they are read, with a time limit for each piece, and nothing of them kept that is too much.

import { type JsonSchema, messageOf, parseJson, whenAborted } from "../core/core.ts";
import { quietTimer } from "../host/process.ts";
import { CLOSE, MAX_BODY_BYTES, tooLarge } from "./guard.ts";
import { HttpProblem, invalid } from "./problem.ts";

/** How long a body may take. */
export interface BodyLimits {
  /** Between two pieces, ms. */
  readonly pieceMs: number;
  /** For all of it, ms. */
  readonly wholeMs: number;
  readonly maxBytes: number;
  /** Aborted when nobody wants the rest any more: a read that waits ends there. Default: never. */
  readonly left?: AbortSignal;
  /** Aborted when whoever sends it has gone. Deno 2.9 tells no read of it that waits while something is answered. Default: never. */
  readonly gone?: AbortSignal;
}

const PIECE_MS = 10_000;
const WHOLE_MS = 60_000;
/** A body up to this is here already, nearly always: it has the time of one piece. */
const SMALL_BYTES = 65_536;
/** Whoever writes calls may be a model that thinks. */
const CALLS_PIECE_MS = 60_000;
const MAX_LEVELS = 200;
/** Fields and items: what is made of them costs many times what their bytes do. */
const MAX_VALUES = 200_000;
const MAX_FIELDS = 1_000;

/** The body as a text. @throws {HttpProblem} 400 `utf-8`, 408 `slow`, 413 `too-large` */
async function readText(request: Request, maxBytes = MAX_BODY_BYTES): Promise<string> {
  const isSmall = Number(request.headers.get("content-length") ?? Infinity) <= SMALL_BYTES;
  const wholeMs = isSmall ? PIECE_MS : WHOLE_MS;
  const limits = { pieceMs: PIECE_MS, wholeMs, maxBytes };
  let whole = "";
  for await (const text of textPieces(request, limits)) whole += text;
  return whole;
}

/** The body as JSON; an empty one is an empty object. @throws {HttpProblem} 400 `json` too */
export async function readJson(request: Request, maxBytes?: number): Promise<unknown> {
  const text = await readText(request, maxBytes);
  if (text === "") return {};
  if (text.length > 2 * MAX_LEVELS) refuseCostly(text);
  try {
    return parseJson(text);
  } catch (error) {
    const what = error instanceof RangeError ? "cannot be read" : "is no JSON";
    throw new HttpProblem(400, "json", `the body ${what}: ${messageOf(error)}`);
  }
}

/** The fields of a form; of several with one name the last counts. A form that may have only known fields has no more than those. */
export async function readForm(
  request: Request,
  { properties, additionalProperties }: JsonSchema,
): Promise<unknown> {
  const text = await readText(request);
  const most = additionalProperties === false ? Object.keys(Object(properties)).length : MAX_FIELDS;
  if (text.split("&", most + 1).length > most) {
    throw invalid(
      `the form has more than ${most} field${most === 1 ? "" : "s"}, expected at most that`,
    );
  }
  return Object.fromEntries(new URLSearchParams(text));
}

/** The body as it comes, for as long as it comes. Whoever leaves it ends a read that waits: a generator alone would end when it has read. */
export function readPieces(request: Request, gone?: AbortSignal): AsyncIterableIterator<string> {
  const leaving = new AbortController();
  const left = leaving.signal;
  const limits = { pieceMs: CALLS_PIECE_MS, wholeMs: Infinity, maxBytes: Infinity, left, gone };
  const texts = textPieces(request, limits);
  return {
    next: () => texts.next(),
    return() {
      leaving.abort();
      return texts.return(undefined);
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

/** The pieces of a body, as text. When it is too much or too slow the rest is not read. */
async function* textPieces(request: Request, limits: BodyLimits): AsyncGenerator<string> {
  const reader = request.body?.getReader();
  if (reader === undefined) return;
  const decoder = new TextDecoder("utf-8", { fatal: true });
  const late = Promise.withResolvers<undefined>();
  late.promise.catch(() => undefined); // it may come when nobody waits
  limits.left?.addEventListener("abort", () => late.resolve(undefined), { once: true });
  const { gone, wholeMs, pieceMs, maxBytes } = limits;
  if (gone !== undefined) whenAborted(gone).then(() => late.reject(gone.reason));
  using _whole = wholeMs === Infinity ? undefined : quietTimer(wholeMs, () => late.reject(slow(wholeMs)));
  let size = 0;
  let isWhole = false;
  try {
    while (!isWhole) {
      using _piece = quietTimer(pieceMs, () => late.reject(slow(pieceMs)));
      const reading = reader.read();
      reading.catch(() => undefined);
      const read = await Promise.race([reading, late.promise]);
      _piece[Symbol.dispose]();
      if (read === undefined) return; // left
      isWhole = read.done;
      size += read.value?.length ?? 0;
      if (size > maxBytes) {
        throw new HttpProblem(413, "too-large", tooLarge(maxBytes).detail, { headers: CLOSE });
      }
      const text = textOf(decoder, read.value, isWhole);
      if (text !== "") yield text;
    }
  } catch (error) {
    throw brokenOff(error);
  } finally {
    if (!isWhole) reader.cancel().catch(() => undefined);
  }
}

function textOf(decoder: TextDecoder, bytes: Uint8Array | undefined, isLast: boolean): string {
  try {
    return decoder.decode(bytes, { stream: !isLast });
  } catch {
    throw new HttpProblem(400, "utf-8", "the body is no UTF-8, expected text in UTF-8");
  }
}

function slow(ms: number): HttpProblem {
  return new HttpProblem(408, "slow", `the body took more than ${ms / 1000} s, expected it sooner`, {
    headers: CLOSE,
  });
}

/** A connection that ended in the middle has nobody left to tell; whoever runs the body is told. */
function brokenOff(error: unknown): HttpProblem {
  if (error instanceof HttpProblem) return error;
  return new HttpProblem(400, "broken-off", "the body broke off before its end", { headers: CLOSE });
}

/** Looks before it is parsed: what is nested deeply, or has very many values, is costly for everybody behind. */
function refuseCostly(text: string): void {
  let levels = 0;
  let values = 0;
  let isText = false;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === 0x22) isText = !isText; // "
    else if (unit === 0x5c) at++; // \ and what it stands before
    else if (!isText && (unit === 0x5b || unit === 0x7b)) levels++;
    else if (!isText && (unit === 0x5d || unit === 0x7d)) levels--;
    else if (!isText && unit === 0x2c) values++; // ,
    if (levels > MAX_LEVELS || values > MAX_VALUES) {
      const found = levels > MAX_LEVELS
        ? `is nested deeper than ${MAX_LEVELS} levels`
        : `has more than ${MAX_VALUES} fields and items`;
      throw new HttpProblem(400, "json", `the body ${found}, expected less`);
    }
  }
}
