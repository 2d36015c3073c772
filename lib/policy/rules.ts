import { isInside } from "../core/core.ts";
import { basename, resolve } from "node:path";

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
    maybeDenied: (path) => deny.find(({ folders }) => folders.some((folder) => isInside(path, folder)))?.text,
    isAllowed: (path) => {
      const isSystem = isSystemPath(path);
      if (pair.allow.all && !isSystem) return true;
      return allow.some((folder) => isInside(path, folder) && (!isSystem || isSystemPath(folder)));
    },
  };
}

/** An entry of a `--deny` list counts for what it is called and for where it leads. */
function bothPaths(text: string, { cwd, realPath }: PathResolving): readonly string[] {
  const path = resolve(cwd, text);
  return [path, realPath(path)];
}

/** Folders of the kernel: a file of theirs may hold every variable of the environment, or be the memory of a process. */
const SYSTEM_FOLDERS: readonly string[] = ["/proc", "/sys", "/dev"];

/** Whether it must be named: all files (`--allow-read`, `--allow-read=/`) do not mean those of the kernel, as in Deno. */
function isSystemPath(path: string): boolean {
  return SYSTEM_FOLDERS.some((folder) => isInside(path, folder));
}

/** What the flags say of one kind: all of it, and what is named. Both may be there: `--allow-net --allow-net=localhost`. */
export interface PolicyRule {
  readonly all: boolean;
  readonly list: readonly string[];
}

/** What the flags of one kind say about one value. */
export interface KindRules {
  /** The entry of the `--deny` list that forbids it. */
  maybeDenied(value: string, address?: string): string | undefined;
  /** Whether the `--allow` flags, or the defaults, allow it. */
  isAllowed(value: string): boolean;
}

/** The two flags of one kind. */
export interface RulePair {
  readonly allow: PolicyRule;
  readonly deny: PolicyRule;
}

/** The rules for variables and for what can be asked of the system: names, or a beginning with `*` at the end. */
export function nameRules({ allow, deny }: RulePair): KindRules {
  return {
    maybeDenied: (name) => deny.list.find((entry) => matchesName(entry, name)),
    isAllowed: (name) => allow.all || allow.list.some((entry) => matchesName(entry, name)),
  };
}

function matchesName(entry: string, name: string): boolean {
  return entry.endsWith("*") ? name.startsWith(entry.slice(0, -1)) : entry === name;
}

/**
 * The rules for commands: a bare name is allowed by that name, one with a slash by its real path. A name and a path
 * that ends with it deny each other, because only the system knows which program a name means.
 */
export function commandRules({ allow, deny }: RulePair, options: PathResolving): KindRules {
  const isPath = (text: string) => text.includes("/");
  const allowed = allow.list.filter(isPath).map((entry) => options.realPath(resolve(options.cwd, entry)));
  const denied = deny.list.map((text) => ({ text, folders: isPath(text) ? bothPaths(text, options) : [] }));
  return {
    maybeDenied: (command) =>
      denied.find(({ text, folders }) =>
        isPath(text) && isPath(command)
          ? folders.some((folder) => isInside(command, folder))
          : basename(text) === basename(command)
      )?.text,
    isAllowed: (command) => allow.all || (isPath(command) ? allowed : allow.list).includes(command),
  };
}
