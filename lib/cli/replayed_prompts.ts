import { isProjectAccepted, openSettings } from "../project/project.ts";
import type { PromptsPlace } from "../service/prompt/containers.ts";
import { nobody } from "./around_run.ts";
import { type GrantFlags, grantsOf } from "./grants.ts";

/** Where the prompts of a replay are: they are its program, as they are now. Nobody is asked anything. */
export async function replayedPrompts(
  folder: string,
  { cwd, flags }: { readonly cwd: string; readonly flags: GrantFlags },
): Promise<PromptsPlace> {
  const project = await openSettings(folder, { cwd });
  const grants = await grantsOf(flags);
  const accepted = await isProjectAccepted({
    ...project,
    flags: grants.flags,
    user: nobody,
    notice: () => undefined,
  });
  return { project, accepted, grants };
}
