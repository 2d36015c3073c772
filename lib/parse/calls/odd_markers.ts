// The format takes every line that is no exact marker line as text, and every one that is as a marker, wherever it stands. That is seldom
// meant, and nobody would see it.

import { editDistance } from "../../core/core.ts";
import type { Markers } from "./header.ts";

/** A line whose meaning is most likely not what was meant. */
export interface OddMarker {
  /** From 1. */
  readonly line: number;
  readonly message: string;
}

/** Of a line nothing more is looked at. */
const MAX_LINE = 200;
/** Shorter markers look like too much else. */
const SHORTEST = 6;

/** Finds them in a text that comes in pieces; its cost is linear, and a piece without the beginning of a marker costs one search. */
export class OddMarkers {
  readonly #markers: Markers;
  readonly #long: readonly string[];
  readonly #stems: readonly string[];
  /** Of a line that has not ended yet. */
  #rest = "";
  #line = 1;
  #isInBlock = false;
  #isInArgument = false;

  constructor(markers: Markers) {
    this.#markers = markers;
    this.#long = Object.values(markers).filter(({ length }) => length >= SHORTEST);
    this.#stems = [...new Set(this.#long.map((marker) => marker.slice(0, 3)))];
  }

  /** What the lines that end in this piece show. */
  push(text: string): readonly OddMarker[] {
    const s = this.#rest + text;
    const end = s.lastIndexOf("\n") + 1;
    this.#rest = s.slice(end, end + MAX_LINE);
    const found: OddMarker[] = [];
    let at = 0;
    for (let stem = this.#nextStem(s, 0); stem >= 0 && stem < end; stem = this.#nextStem(s, at)) {
      const from = s.lastIndexOf("\n", stem) + 1;
      this.#line += linesIn(s, at, from);
      at = s.indexOf("\n", stem) + 1;
      const message = this.#look(s.slice(from, Math.min(at, from + MAX_LINE)), stem - from);
      if (message !== undefined) found.push({ line: this.#line, message });
      this.#line++;
    }
    this.#line += linesIn(s, at, end);
    return found;
  }

  /** What is found in the whole text, this its last piece. */
  all(text: string): readonly OddMarker[] {
    return this.push(`${text}\n`);
  }

  #nextStem(s: string, from: number): number {
    const places = this.#stems.map((stem) => s.indexOf(stem, from)).filter((place) => place >= 0);
    return places.length === 0 ? -1 : Math.min(...places);
  }

  /** What is odd about a line with a stem at `indent`. */
  #look(line: string, indent: number): string | undefined {
    if (line.slice(0, indent).trim() !== "") return undefined; // in a sentence, or with its escape
    const text = line.slice(indent).trimEnd();
    const { start, end, arg } = this.#markers;
    const behindEnd = text.startsWith(end) ? text.slice(end.length) : undefined;
    const isMarker = text.startsWith(start) || text.startsWith(arg) || behindEnd === "";
    if (isMarker && indent === 0) return this.#marker(text);
    if (isMarker) {
      return `${
        shown(text)
      } is text here, since blanks stand before it: a marker stands at the beginning of its line`;
    }
    if (behindEnd !== undefined && !/^\w/.test(behindEnd)) {
      return `${shown(text)} ends no block: nothing may stand behind ${end}`;
    }
    const [word = ""] = /^[^\s:]*:?/.exec(text) ?? [];
    const near = this.#long.find((marker) => {
      const most = Math.min(2, Math.floor(marker.length / 5));
      return editDistance(word.toLowerCase(), marker.toLowerCase(), most + 1) <= most;
    });
    return near === undefined ? undefined : `${shown(text)} is text. Did you mean "${near}"?`;
  }

  #marker(text: string): string | undefined {
    const { start, arg } = this.#markers;
    const isNested = this.#isInArgument && text.startsWith(start);
    if (text.startsWith(arg)) this.#isInArgument = this.#isInBlock;
    else {
      this.#isInArgument = false;
      this.#isInBlock = text.startsWith(start);
    }
    return isNested
      ? `${
        shown(text)
      } ends the block before it, in the middle of an argument. Where it belongs to the argument, write "\\" ` +
        "before each of its marker lines"
      : undefined;
  }
}

function linesIn(s: string, from: number, to: number): number {
  let lines = 0;
  for (let at = s.indexOf("\n", from); at >= 0 && at < to; at = s.indexOf("\n", at + 1)) lines++;
  return lines;
}

function shown(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}\u2026` : text);
}
