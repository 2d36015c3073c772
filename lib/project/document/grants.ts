import { relative, resolve } from "node:path";
import {
  type Files,
  isInside,
  PermissionRefused,
  type PermissionRequest,
  type Policy,
} from "../../core/core.ts";
import type { DocumentGrants } from "../../check/check_options.ts";
import { narrowedAway, type Narrowing, NOT_NARROWED } from "../../check/narrowing.ts";
import { realPath } from "../../host/paths.ts";
import { maybeRefusal } from "../../policy/refusal.ts";
import { createPolicy } from "../../policy/policy.ts";
import type { PolicySettings } from "../../policy/policy_settings.ts";

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
    const refused = maybeRefusal(by, request);
    return refused === undefined || canAsk && refused.flag !== "";
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

/** What the policy of a world says of a document, before it runs. @param shell the command that reads the scripts of `@shell` */
export function worldGrants(
  { root, files, policy }: {
    readonly root: string;
    readonly files: Files;
    readonly policy: Pick<Policy, "permit">;
  },
  shell: string,
): DocumentGrants {
  const may = async (request: PermissionRequest): Promise<boolean> => {
    try {
      await policy.permit(request);
      return true;
    } catch (error) {
      if (error instanceof PermissionRefused) return false;
      throw error;
    }
  };
  return {
    mayRun: () => may({ kind: "run", value: shell }),
    mayRead: async (path) => await may({ kind: "read", value: await files.resolve(path) }),
    mayWrite: async (path) =>
      await may({ kind: "write", value: path === undefined ? root : await files.resolve(path) }),
    isWriteListed: false,
    // Which hosts there are only the tools know: it is asked about each when one is called.
    mayConnect: (host) => host === undefined || may({ kind: "net", value: host }),
  };
}

/** What the document that runs may use at most; its tools are held to it too (documents.md 13.3). */
export class DocumentBounds {
  readonly #root: string;
  #narrowing = NOT_NARROWED;

  /** @param root the project root: absolute */
  constructor(root: string) {
    this.#root = root;
  }

  narrow(narrowing: Narrowing): void {
    this.#narrowing = narrowing;
  }

  /** The end of a sentence that says what is against a request; undefined when nothing is. */
  against({ kind, value }: PermissionRequest): string | undefined {
    if (kind === "env" || kind === "sys") return undefined;
    const wanted = kind === "run" ? {} : kind === "net" ? { host: value } : { path: value };
    return narrowedAway(this.#narrowing, { kind, root: this.#root, ...wanted });
  }
}
