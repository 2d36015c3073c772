import { relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { isInside, isRecord, messageOf, projectPath } from "../core/core.ts";
import type { LineProblem } from "../parse/yaml/front_matter.ts";
import { foundValue } from "../schema/issue.ts";

/** What a module exports, by name. */
export type ModuleExports = Readonly<Record<string, unknown>>;

/** Loads a module of the user's by its absolute path. What it throws is told as the problem of the file. */
export type LoadModule = (path: string) => Promise<unknown>;

/** A module may wait for ever at its top; the others do not wait with it. */
const LIMIT_MS = 10_000;

/** The exports of a module. @throws what the module throws, or that it does not finish loading. */
export async function loadExports(path: string, loadModule: LoadModule): Promise<ModuleExports> {
  const late = Promise.withResolvers<never>();
  const limit = `it did not finish loading within ${
    LIMIT_MS / 1000
  } s; take the waiting out of the top of the module`;
  const timer = setTimeout(() => late.reject(new Error(limit)), LIMIT_MS);
  try {
    const exported = await Promise.race([loadModule(path), late.promise]);
    return isRecord(exported) ? exported : {};
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Why a module of a project could not be loaded: the line of its own that leads to the error, and in the message the place of the
 * throw when that is in another file of the project.
 */
export function moduleProblem(
  thrown: unknown,
  { path, root }: { readonly path: string; readonly root: string },
): LineProblem {
  const shown = (file: string) => isInside(file, root) ? projectPath(file, root) : undefined;
  const { message, places } = thrownWords(thrown, shown);
  const inside = places.filter((place) => isInside(place.path, root));
  const [first] = inside;
  // A module that is at hand without a file has its source elsewhere, under the same path.
  const way = `${sep}${relative(root, path)}`;
  const own = inside.find((place) => place.path === path) ?? places.find((place) => place.path.endsWith(way));
  const elsewhere = first === undefined || first.path === path
    ? ""
    : ` (at ${projectPath(first.path, root)}:${first.line}:${first.column})`;
  return { line: own?.line ?? 1, message: `${message}${elsewhere}` };
}

/** A place in a file that an error names. */
interface ThrownPlace {
  /** Absolute. */
  readonly path: string;
  /** From 1. */
  readonly line: number;
  readonly column: number;
}

/** What an error says, and where. */
interface ThrownWords {
  /** The first line, which says what is wrong: without the place and the picture of the line that Deno adds. */
  readonly message: string;
  /** The places in its message and its stack, the innermost first; without those in this program's own modules, which are not where a user has to look. */
  readonly places: readonly ThrownPlace[];
}

/** The folder of this program's own modules. */
const OWN_MODULES = new URL("../", import.meta.url).href;

/** Reads what a module has thrown. @param shown how a message names a file; undefined: by its URL */
export function thrownWords(
  thrown: unknown,
  shown: (path: string) => string | undefined,
): ThrownWords {
  const pathOf = (url: string) => {
    try {
      return fileURLToPath(url);
    } catch {
      return undefined;
    }
  };
  const [first = ""] = plain(wordsOf(thrown)).split("\n");
  const message = first
    .replace(/^The module's source code could not be parsed: /, "SyntaxError: ")
    .replace(/ at file:\/\/\S+:\d+:\d+$/, "")
    .replaceAll(/file:\/\/[^\s"']+/g, (url) => {
      const path = pathOf(url);
      return (path && shown(path)) ?? url;
    });
  const text = thrown instanceof Error ? plain(`${thrown.message}\n${thrown.stack ?? ""}`) : "";
  const places = [...text.matchAll(/(file:\/\/[^\s"']+?):(\d+):(\d+)/g)].flatMap(
    ([, url = "", line, column]) => {
      const path = url.startsWith(OWN_MODULES) ? undefined : pathOf(url);
      return path === undefined ? [] : [{ path, line: Number(line), column: Number(column) }];
    },
  );
  return { message, places };
}

function wordsOf(thrown: unknown): string {
  return thrown instanceof Error || typeof thrown === "string"
    ? messageOf(thrown)
    : `found ${foundValue(thrown)} thrown, expected an error`;
}

/** Without the colours that Deno puts into some messages, also where there is no terminal. */
function plain(text: string): string {
  return text.replaceAll(/\p{Cc}\[[\d;]*m/gu, "");
}
