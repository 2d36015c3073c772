// Files as requests name them: only below the project root, wherever links lead.

import { isInside } from "../catalog/paths.ts";
import { relative, resolve } from "node:path";
import { realPath } from "../host/paths.ts";
import { ServiceError } from "./service.ts";

/** What is Orrery's own, or git's: nobody runs or shows it. */
const HIDDEN: ReadonlySet<string> = new Set([".orrery", ".git"]);

/**
 * The file of that name, with every link followed: relative to the root, with `/`. It need not be there.
 *
 * @param named relative to the root, with `/`
 * @throws {ServiceError} `outside`, in the same words whether it is there or not
 */
export function fileInProject(
  named: string,
  { root, field = "file" }: { readonly root: string; readonly field?: string },
): string {
  const isPlain = named !== "" && !/[\0\\]|^[A-Za-z]:/.test(named) &&
    named.split("/").every((part) => part !== "" && part !== "." && part !== "..");
  const real = isPlain ? realPath(resolve(root, named)) : root;
  const path = relative(root, real).replaceAll("\\", "/");
  const isHidden = [named, path].some((each) => HIDDEN.has(each.split("/")[0]?.toLowerCase() ?? ""));
  if (isPlain && real !== root && isInside(real, root) && !isHidden) return path;
  throw new ServiceError(
    `${field}: ${
      JSON.stringify(named)
    } is not a file of the project: name one below its root, with "/" between folders`,
    { code: "outside", details: { field } },
  );
}
