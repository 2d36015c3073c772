// checkDocument over files in memory.
import { resolve } from "node:path";
import { memoryFiles, PermissionRefused } from "../mod.ts";
import { isInside } from "../lib/core/paths.ts";
import { checkDocument } from "../lib/check/check_document.ts";
import { type CheckDocumentOptions, type DocumentGrants, problemLine } from "../lib/check/check_options.ts";

export const ROOT = "/project";

export type CheckOverrides = Partial<Omit<CheckDocumentOptions, "grants">> & {
  readonly grants?: Partial<DocumentGrants>;
};

/** Nothing is granted but what lies in the project; the only model is `script/echo`, and the default. */
export function checkOptions(
  files: Readonly<Record<string, string | Uint8Array>>,
  overrides: CheckOverrides = {},
): CheckDocumentOptions {
  const memory = memoryFiles(files, { root: ROOT });
  const guard = (path: string): void => {
    if (isInside(resolve(ROOT, path), ROOT)) return;
    throw new PermissionRefused("refused", {
      request: { kind: "read", value: path },
      flag: `--allow-read=${path}`,
    });
  };
  return {
    root: ROOT,
    read: (path) => {
      guard(path);
      return memory.readText(path);
    },
    mediaProblem: async (path) => {
      guard(path);
      await memory.readBytes(path);
      return undefined;
    },
    toolNames: () => ["look", "find"],
    modelProblem: (name) =>
      name === undefined || name === "script/echo" ? undefined : `unknown model "${name}"`,
    ...overrides,
    grants: {
      mayRun: () => false,
      mayRead: (path) => isInside(resolve(ROOT, path), ROOT),
      mayWrite: () => false,
      isWriteListed: false,
      mayConnect: () => false,
      ...overrides.grants,
    },
  };
}

/** The lines of everything that is wrong with `main.md`. */
export async function problemLines(
  files: Readonly<Record<string, string | Uint8Array>>,
  overrides: CheckOverrides = {},
): Promise<readonly string[]> {
  const { problems } = await checkDocument("main.md", checkOptions(files, overrides));
  return problems.map(problemLine);
}
