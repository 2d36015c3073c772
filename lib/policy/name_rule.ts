import { basename, resolve } from "node:path";
import type { KindRules, RulePair } from "./kind_rules.ts";
import { bothPaths, holdsPath, type PathResolving } from "./path_rule.ts";

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
          ? folders.some((folder) => holdsPath(folder, command))
          : basename(text) === basename(command)
      )?.text,
    isAllowed: (command) => allow.all || (isPath(command) ? allowed : allow.list).includes(command),
  };
}
