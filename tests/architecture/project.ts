import { posix } from "node:path";
import { type ModuleFacts, moduleFacts } from "./module_facts.ts";
import type { ProjectTree } from "./project_tree.ts";

/** A project with its TypeScript read. */
export interface Project {
  readonly tree: ProjectTree;
  readonly modules: ReadonlyMap<string, ModuleFacts>;
  /** The import map of tests/deno_tests.json: all of deno.json's, and what tests and releases need. */
  readonly testImports: Readonly<Record<string, string>>;
  /** The import map of deno.json. */
  readonly imports: Readonly<Record<string, string>>;
}

/** Finds what breaks one rule; a problem is `path:line: what is wrong (what is right)`. */
export type Rule = (project: Project) => readonly string[];

/** Reads the modules of a project. Test data is data: no module below tests/spec/ is read. */
export function readModules(tree: ProjectTree): Project {
  const modules = new Map<string, ModuleFacts>();
  for (const [path, text] of tree) {
    if (/\.tsx?$/.test(path) && !path.startsWith("tests/spec/")) {
      modules.set(path, moduleFacts(`/${path}`, text));
    }
  }
  const importsOf = (path: string): Readonly<Record<string, string>> =>
    JSON.parse(tree.get(path) ?? "{}").imports ?? {};
  return { tree, modules, imports: importsOf("deno.json"), testImports: importsOf("tests/deno_tests.json") };
}

/** The room of a file, or undefined for tests, examples, what lies hidden, and the texts of help: their modules are for a user's project. */
export function roomOf(path: string): string | undefined {
  if (path === "mod.ts" || path === "main.ts") return path;
  if (path.startsWith("gadgets/")) return "gadgets";
  return /^lib\/(?!help\/)([^/]+)\//.exec(path)?.[1];
}

/** The file of the project that a relative specifier names. */
export function targetOf(path: string, specifier: string): string | undefined {
  return specifier.startsWith(".") ? posix.join(posix.dirname(path), specifier) : undefined;
}

/** The modules that are shipped. */
export function product(modules: Project["modules"]): readonly (readonly [string, ModuleFacts])[] {
  return [...modules].filter(([path]) => roomOf(path) !== undefined);
}
