import { defaultShell } from "../host/default_shell.ts";
import type { DocumentMeans } from "../run/document_means.ts";
import type { ProjectSettings } from "./project.ts";

/** The shell for `@shell`, as the configuration has it. */
export function scriptShell(
  { config: { documents } }: Pick<ProjectSettings, "config">,
): DocumentMeans["script"] {
  const shell = defaultShell();
  return documents.shell === undefined ? shell : { ...shell, command: documents.shell };
}
