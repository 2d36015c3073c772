// The calls of texts that are there as a whole. A server runs the same files again and again: what was read of one is kept, since to read
// it anew takes a seventh of a small run.

import { undecided } from "../schema/text_value.ts";
import { completeMarkers } from "./call_header.ts";
import type { Markers } from "./call_header.ts";
import { CallParser } from "./call_parser.ts";
import type { CallEvent } from "./call_parser.ts";
import { OddMarkers } from "./odd_markers.ts";
import type { OddMarker } from "./odd_markers.ts";

/** What a parser tells of a text; leaves are as they stand in it. Others have the same lists: nobody may change them. */
export interface WholeCalls {
  /** While it reads. */
  readonly read: readonly CallEvent[];
  /** At the end of the text. */
  readonly rest: readonly CallEvent[];
  readonly odd: readonly OddMarker[];
}

interface KnownText extends WholeCalls {
  readonly markers: Partial<Markers> | undefined;
}

const MOST_TEXTS = 64;
const MOST_CHARACTERS = 16_384;

/** By the text. */
const known = new Map<string, KnownText>();

/** Reads a text, or gives what was read of it before. @throws {TypeError} when the markers cannot be told apart */
export function wholeCalls(text: string, markers: Partial<Markers> | undefined): WholeCalls {
  const before = known.get(text);
  if (before !== undefined && before.markers === markers) return before;
  const parser = new CallParser({ ...(markers === undefined ? {} : { markers }), leaf: undecided });
  const odd = new OddMarkers(completeMarkers(markers)).all(text);
  const found = { markers, read: shared(parser.push(text)), rest: shared(parser.end()), odd };
  if (text.length > MOST_CHARACTERS) return found;
  if (known.size >= MOST_TEXTS) known.clear();
  known.set(text, found);
  return found;
}

/** Events are handed on as they are: what they have in common with those of other runs cannot be changed in one of them. */
function shared(events: readonly CallEvent[]): readonly CallEvent[] {
  for (const event of events) if (event.type === "call-start") Object.freeze(event.dependencies);
  return events;
}
