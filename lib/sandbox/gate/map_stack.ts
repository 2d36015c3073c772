import { fileURLToPath } from "node:url";
import { shownPath } from "../../core/core.ts";
import type { PreparedGraph, PreparedModule } from "./prepare_modules.ts";
import { decodeMap, type Mapping, sourcePlace } from "./source_map.ts";

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
  readonly #maps = new Map<PreparedModule, readonly Mapping[]>();

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
    const generated = { line: Number(row) - 1, column: Number(column ?? 1) - 1 };
    const { line, column: at } = sourcePlace(this.#map(module), generated) ?? generated;
    return `${file}:${line + 1}:${at + 1}`;
  }

  #map(module: PreparedModule): readonly Mapping[] {
    const known = this.#maps.get(module) ?? decodeMap(module.map ?? "");
    this.#maps.set(module, known);
    return known;
  }
}
