import { resolve, sep } from "node:path";
import type { KindRules, RulePair } from "./kind_rules.ts";

/** Makes a flag's path absolute and real. */
export interface PathResolving {
  readonly cwd: string;
  readonly realPath: (path: string) => string;
}

/** The rules for files. `defaults` are taken as they are: a project could make its `.orrery` a link to anywhere. */
export function pathRules(
  pair: RulePair,
  options: PathResolving & {
    readonly defaults: readonly string[];
    /** What an absolute path of the `--allow` list means. Default: its real path. */
    readonly inside?: (path: string) => string;
  },
): KindRules {
  const { realPath, inside = realPath } = options;
  const allow = [
    ...options.defaults,
    ...pair.allow.list.map((entry) => inside(resolve(options.cwd, entry))),
  ];
  const deny = pair.deny.list.map((text) => ({ text, folders: bothPaths(text, options) }));
  return {
    maybeDenied: (path) =>
      deny.find(({ folders }) => folders.some((folder) => holdsPath(folder, path)))?.text,
    isAllowed: (path) => {
      const isSystem = isSystemPath(path);
      if (pair.allow.all && !isSystem) return true;
      return allow.some((folder) => holdsPath(folder, path) && (!isSystem || isSystemPath(folder)));
    },
  };
}

/** An entry of a `--deny` list counts for what it is called and for where it leads. */
export function bothPaths(text: string, { cwd, realPath }: PathResolving): readonly string[] {
  const path = resolve(cwd, text);
  return [path, realPath(path)];
}

/** Whether `path` is `folder` or under it; both absolute. By folder: `/data` does not hold `/database`. */
export function holdsPath(folder: string, path: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

/** Folders of the kernel: a file of theirs may hold every variable of the environment, or be the memory of a process. */
const SYSTEM_FOLDERS: readonly string[] = ["/proc", "/sys", "/dev"];

/** Whether it must be named: all files (`--allow-read`, `--allow-read=/`) do not mean those of the kernel, as in Deno. */
function isSystemPath(path: string): boolean {
  return SYSTEM_FOLDERS.some((folder) => holdsPath(folder, path));
}
