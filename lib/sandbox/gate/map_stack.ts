import { fileURLToPath } from "node:url";
import { isRecord, shownPath } from "../../core/core.ts";
import type { PreparedGraph, PreparedModule } from "./prepare_modules.ts";
import type { Moved } from "./imports.ts";

/** What a stack is told by. */
export interface StackPlaces {
  readonly graph: PreparedGraph;
  /** `file:` URL of the folder that the graph was written to. */
  readonly folderUrl: string;
  /** Absolute: files are named from here. */
  readonly cwd: string;
}

const FRAME = /^\s+at /;
const URL_IN_FRAME = /[a-z]+:\/\/|\((?:ext|node|deno):|at (?:async )?(?:ext|node|deno):/;

/**
 * A message or a stack of a gadget's process, with the places in the prepared modules told as `file:line:column` of their sources. Of the
 * frames of a stack only those of the gadget are left, and those of functions of the language that it called or was called by.
 */
export function mapStack(stack: string, places: StackPlaces): string {
  const modules = new PlaceReader(places);
  const lines = stack.split("\n").flatMap((line) => {
    const { text, isOurs } = modules.told(line);
    const isLeft = !FRAME.test(line) || isOurs || !URL_IN_FRAME.test(line);
    return isLeft ? [{ text, isBuiltIn: FRAME.test(line) && !isOurs }] : [];
  });
  // Functions of the language behind the last frame of the gadget were called by Orrery.
  const last = lines.findLastIndex(({ isBuiltIn }) => !isBuiltIn);
  return lines.slice(0, last + 1).map(({ text }) => text).join("\n");
}

/** Reads each map once, and only when it is needed. */
class PlaceReader {
  /** The folder as a URL and as a path, each with a slash at its end. */
  readonly #folders: readonly string[];
  readonly #cwd: string;
  readonly #modules: ReadonlyMap<string, PreparedModule>;
  readonly #places = new Map<PreparedModule, Places>();

  constructor({ graph, folderUrl, cwd }: StackPlaces) {
    const url = folderUrl.endsWith("/") ? folderUrl : `${folderUrl}/`;
    this.#folders = [url, fileURLToPath(url)];
    this.#cwd = cwd;
    this.#modules = new Map(graph.modules.map((module) => [module.output, module]));
  }

  /** Where the folder itself is, is nobody's business: of what else is in it the name is left. */
  told(line: string): { readonly text: string; readonly isOurs: boolean } {
    let isOurs = false;
    let text = line;
    for (const folder of this.#folders) {
      const [first = "", ...rest] = text.split(folder);
      const told = rest.map((part) => {
        const [all = "", output = "", row, column] =
          /^([\w.]*\.js)(?::(\d{1,9}))?(?::(\d{1,9}))?/.exec(part) ??
            [];
        const module = this.#modules.get(output);
        if (module === undefined) return part;
        isOurs = true;
        return this.#place(module, { row, column }) + part.slice(all.length);
      });
      text = (first + told.join("")).replaceAll(folder.slice(0, -1), ".");
    }
    return { text, isOurs };
  }

  #place(
    module: PreparedModule,
    { row, column }: { readonly row: string | undefined; readonly column: string | undefined },
  ): string {
    const file = shownPath(module.path, this.#cwd);
    if (row === undefined) return file;
    const { moved, mappings } = this.#placesOf(module);
    const plain = unmoved({ line: Number(row) - 1, column: Number(column ?? 1) - 1 }, moved);
    const { line, column: at } = sourcePlace(mappings, plain) ?? plain;
    return `${file}:${line + 1}:${at + 1}`;
  }

  #placesOf(module: PreparedModule): Places {
    const known = this.#places.get(module) ?? placesOf(module);
    this.#places.set(module, known);
    return known;
  }
}

interface Places {
  readonly moved: readonly Moved[];
  readonly mappings: readonly Mapping[];
}

function placesOf({ map = "{}" }: PreparedModule): Places {
  const { moved = [], types }: { readonly moved?: readonly Moved[]; readonly types?: string } = JSON.parse(
    map,
  );
  return { moved, mappings: decodeMap(types) };
}

/** Where a place of an edited text was before. */
export function unmoved(
  { line, column }: { readonly line: number; readonly column: number },
  moved: readonly Moved[],
): { readonly line: number; readonly column: number } {
  const last = moved.findLast((each) => each.line === line && each.column <= column);
  if (last === undefined) return { line, column };
  return { line, column: last.isEdit ? last.was : last.was + column - last.column };
}

// Source maps (ECMA-426), as far as the gate needs them: one source, no names.

/** A place of the generated text and its place in the source: all from 0, columns in UTF-16 units. */
export interface Mapping {
  readonly line: number;
  readonly column: number;
  readonly sourceLine: number;
  readonly sourceColumn: number;
}

const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/** Reads a map; an empty list where there is none. */
export function decodeMap(json: string | undefined): readonly Mapping[] {
  const map: unknown = json && JSON.parse(json);
  const mappings = isRecord(map) ? map["mappings"] : undefined;
  return typeof mappings === "string" ? decodeMappings(mappings) : [];
}

function decodeMappings(mappings: string): readonly Mapping[] {
  const out: Mapping[] = [];
  let [sourceLine, sourceColumn] = [0, 0];
  mappings.split(";").forEach((text, line) => {
    let column = 0;
    for (const segment of text.split(",")) {
      const [columns = 0, source, lines = 0, sourceColumns = 0] = decodeNumbers(segment);
      column += columns;
      if (source === undefined) continue; // a place that comes from nowhere
      sourceLine += lines;
      sourceColumn += sourceColumns;
      out.push({ line, column, sourceLine, sourceColumn });
    }
  });
  return out;
}

function decodeNumbers(segment: string): readonly number[] {
  const out: number[] = [];
  let [value, shift] = [0, 0];
  for (const char of segment) {
    const digit = DIGITS.indexOf(char);
    value += (digit & 31) << shift;
    shift += 5;
    if ((digit & 32) !== 0) continue;
    out.push((value & 1) === 0 ? value >> 1 : -(value >> 1));
    [value, shift] = [0, 0];
  }
  return out;
}

/**
 * Where a place of the generated text is in the source. Behind a mapped place it goes on column by column, on lines that have none
 * it is the place before.
 */
export function sourcePlace(
  mappings: readonly Mapping[],
  { line, column }: { readonly line: number; readonly column: number },
): { readonly line: number; readonly column: number } | undefined {
  let [low, high] = [0, mappings.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const at = mappings[middle];
    const isBefore = at !== undefined && (at.line < line || (at.line === line && at.column <= column));
    if (isBefore) low = middle + 1;
    else high = middle;
  }
  const found = mappings[low - 1];
  if (found === undefined) return undefined;
  const further = found.line === line ? column - found.column : 0;
  return { line: found.sourceLine, column: found.sourceColumn + further };
}
