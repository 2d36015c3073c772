import type { DocumentGrants } from "../check/check_options.ts";
import { PermissionRefused } from "../core/world.ts";
import type { Files, PermissionRequest, Policy } from "../core/world.ts";

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
