import type { DocumentGrants } from "../check/check_options.ts";
import { isInside } from "../catalog/project_path.ts";
import { PermissionRefused } from "../core/world.ts";
import type { PermissionRequest } from "../core/world.ts";
import { relative, resolve } from "../core/path.ts";
import { realPath } from "../host/paths.ts";
import { createPolicy } from "../policy/policy.ts";
import type { PolicySettings } from "../policy/policy_settings.ts";

/** What the flags of a run say of a document, before it runs. */
export function documentGrants({ root, cwd, settings, shell, canAsk }: {
  readonly root: string;
  readonly cwd: string;
  readonly settings: PolicySettings;
  /** The command that reads the scripts of `@shell`. */
  readonly shell: string;
  /** Somebody will be asked about what no flag forbids. */
  readonly canAsk: boolean;
}): DocumentGrants {
  const policy = createPolicy(settings, { root, cwd, realPath });
  const { allowAll, allow } = settings;
  const may = (request: PermissionRequest): boolean => {
    try {
      policy.check(request);
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
    ...(allow.run.list.length > 0 && { shell }),
    flagPath: (path) => relative(cwd, resolve(root, path)) || ".",
    mayRun: () => may({ kind: "run", value: shell }),
    mayRead: (path) => may({ kind: "read", value: real(path) }),
    mayWrite: (path) => path === undefined ? isAny("write") : mayWrite(path),
    isWriteListed: !allowAll && !allow.write.all && allow.write.list.length > 0,
    mayConnect: (host) => host === undefined ? isAny("net") : may({ kind: "net", value: host }),
  };
}
