import { FACADE_NAMES } from "../../facade_modules.ts";
import { signalOf } from "./arguments.ts";
import { notThere } from "./error.ts";
import { Dirent, exists, NODE_CONSTANTS, NODE_WORKS, Stats } from "./node_works.ts";
import type { Ask } from "./steps.ts";

type Given = readonly unknown[];

/** `node:fs` and `node:fs/promises`: the same work, blocking, with a callback, and as a promise. */
export function nodeFiles(
  ask: Ask,
): { readonly fs: Readonly<Record<string, unknown>>; readonly promises: Readonly<Record<string, unknown>> } {
  const promises: Record<string, unknown> = { constants: NODE_CONSTANTS };
  const fs: Record<string, unknown> = { constants: NODE_CONSTANTS, Stats, Dirent, promises };
  for (const [name, work] of Object.entries(NODE_WORKS)) {
    const soon = async (...given: Given): Promise<unknown> =>
      await ask.soon(work(...given), signalOf(given.at(-1)));
    promises[name] = soon;
    fs[name] = calledBack(name, soon);
    fs[`${name}Sync`] = (...given: Given) => ask.now(work(...given));
    if (name !== "realpath") continue;
    for (const each of [fs.realpath, fs.realpathSync]) Object.defineProperty(each, "native", { value: each });
  }
  const existsSync = (path: unknown): boolean => ask.now(exists(path));
  fs.existsSync = existsSync;
  fs.exists = (path: unknown, callback: unknown) => {
    if (typeof callback !== "function") throw new TypeError("fs.exists needs a callback");
    ask.soon(exists(path)).catch(() => false).then((found) => Reflect.apply(callback, undefined, [found]));
  };
  addAbsent(fs, "fs", FACADE_NAMES["node:fs"]);
  addAbsent(promises, "fs.promises", FACADE_NAMES["node:fs/promises"]);
  return { fs, promises };
}

function calledBack(name: string, soon: (...given: Given) => Promise<unknown>): (...given: Given) => void {
  return (...given) => {
    const callback = given.at(-1);
    if (typeof callback !== "function") {
      throw new TypeError(
        `fs.${name} needs a callback as its last argument; fs.${name}Sync and fs.promises.${name} do not`,
      );
    }
    const call = (...result: Given): void => queueMicrotask(() => Reflect.apply(callback, undefined, result));
    soon(...given.slice(0, -1)).then((value) => call(null, value), (error: unknown) => call(error));
  };
}

/** Everything else that there is in Node: its message names it. */
function addAbsent(target: Record<string, unknown>, owner: string, names: readonly string[]): void {
  for (const name of names) {
    target[name] ??= () => {
      throw notThere(
        `${owner}.${name}`,
        "use readFile, writeFile, appendFile, readdir, mkdir, rm, rename, copyFile or stat",
      );
    };
  }
}
