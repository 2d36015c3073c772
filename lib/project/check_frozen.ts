import { ProblemsError } from "../core/problems_error.ts";
import { resolve } from "node:path";
import { hostFiles } from "../host/files.ts";
import { lookAt } from "../host/paths.ts";
import { shellWord } from "../policy/refusal.ts";
import { frozenError } from "./grant_gadget.ts";
import { changedModules } from "./module_hashes.ts";
import type { ProjectLock } from "./project_lock.ts";

/** `--frozen`: every module of the lock is as it was, before anything runs. @throws {ProblemsError} that names each gadget and module */
export async function checkFrozen(
  lock: ProjectLock | undefined,
  { root }: { readonly root: string },
): Promise<void> {
  const disk = hostFiles({ root });
  const problems = await Promise.all((lock?.lock.gadgets ?? []).map(async (gadget) => {
    const changes = await changedModules(gadget, { root, disk });
    const word = shellWord(gadget.name);
    const hint = lookAt(resolve(root, gadget.file)) === "nothing"
      ? `orrery trust deny ${word} takes it out of the lock.`
      : `orrery trust allow ${word} allows it as it is now.`;
    return changes.length === 0 ? [] : [frozenError(gadget.name, { changes, lock, hint })];
  }));
  if (problems.some((each) => each.length > 0)) throw new ProblemsError(problems.flat());
}
