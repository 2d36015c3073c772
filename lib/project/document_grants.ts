import { relative, resolve } from "node:path";
import { isInside } from "../catalog/paths.ts";
import type { DocumentGrants } from "../check/check_options.ts";
import { PermissionRefused, type PermissionRequest } from "../core/world.ts";
import { realPath } from "../host/paths.ts";
import { createPolicy } from "../policy/policy.ts";
import type { PolicySettings } from "../policy/policy_settings.ts";

/** What the flags of a run say of a document, before it runs. */
export function documentGrants({ root, cwd, settings, scripts = settings, shell, canAsk }: {
  readonly root: string;
  readonly cwd: string;
  readonly settings: PolicySettings;
  /** What its scripts may do. Default: the same. */
  readonly scripts?: PolicySettings;
  /** The command that reads the scripts of `@shell`. */
  readonly shell: string;
  /** Somebody will be asked about what no flag forbids. */
  readonly canAsk: boolean;
}): DocumentGrants {
  const policy = createPolicy(settings, { root, cwd, realPath });
  const { allowAll, allow } = settings;
  const scriptPolicy = scripts === settings ? policy : createPolicy(scripts, { root, cwd, realPath });
  const may = (request: PermissionRequest, by = policy): boolean => {
    try {
      by.check(request);
      return true;
    } catch (error) {
      if (error instanceof PermissionRefused) return canAsk && error.flag !== "";
      throw error;
    }
  };
  const isAny = (kind: "write" | "net"): boolean =>
    canAsk || allowAll || allow[kind].all || allow[kind].list.length > 0;
  const real = (path: string): string => realPath(resolve(root, path));
  const mayWrite = (path: string): boolean => {
    const value = real(path);
    // For documents --allow-write alone is the project; what lies outside has to be named (documents.md 13.1).
    const isNamed = allowAll || isInside(value, root) || !allow.write.all || isListed(value);
    return isNamed && may({ kind: "write", value });
  };
  const isListed = (value: string): boolean =>
    allow.write.list.some((listed) => isInside(value, realPath(resolve(cwd, listed))));
  return {
    ...(scripts.allow.run.list.length > 0 && { shell }),
    ...(settings.runsByGrant && {
      runHint: `grants of orrery.yaml have to name it: "@shell": { run: [${JSON.stringify(shell)}] }`,
    }),
    flagPath: (path) => relative(cwd, resolve(root, path)) || ".",
    // A path counts by where it leads, as it does when it is started.
    mayRun: () => may({ kind: "run", value: shell.includes("/") ? real(shell) : shell }, scriptPolicy),
    mayRead: (path) => may({ kind: "read", value: real(path) }),
    mayWrite: (path) => path === undefined ? isAny("write") : mayWrite(path),
    isWriteListed: !allowAll && !allow.write.all && allow.write.list.length > 0,
    mayConnect: (host) => host === undefined ? isAny("net") : may({ kind: "net", value: host }),
  };
}
