import { fileURLToPath } from "node:url";
import { messageOf } from "../core/source_error.ts";
import { foundValue } from "../schema/issue.ts";

/** A place in a file that an error names. */
export interface ThrownPlace {
  /** Absolute. */
  readonly path: string;
  /** From 1. */
  readonly line: number;
  readonly column: number;
}

/** What an error says, and where. */
export interface ThrownWords {
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
