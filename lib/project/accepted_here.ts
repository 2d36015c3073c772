import { NOBODY } from "./nobody.ts";
import { isProjectAccepted, type ProjectSettings } from "./project.ts";

/** Whether the user has accepted what the project says for itself; nobody is asked. */
export async function isAcceptedHere(project: ProjectSettings): Promise<boolean> {
  const flags = { gadget: [], trust: [], "trust-project": false };
  return await isProjectAccepted({ ...project, flags, user: NOBODY, notice: () => undefined });
}
