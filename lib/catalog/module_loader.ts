import { isRecord } from "../core/json.ts";

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
