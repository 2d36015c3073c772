import { LOCK_FILE } from "../core/gadget_lock.ts";
import { join } from "node:path";
import type { Span } from "../core/source_error.ts";
import { hostFiles } from "../host/files.ts";
import { parseYaml } from "../parse/yaml.ts";
import { isAcceptedHere } from "../project/accepted_here.ts";
import { projectParts, type ProjectSettings } from "../project/project.ts";
import type { CheckReport } from "./check_report.ts";

/** What is no part of `orrery.yaml`. */
const FILES: readonly string[] = [".mcp.json", LOCK_FILE];

/**
 * A check takes what a project says for itself as accepted, since it looks for mistakes in files; a run does not. So that nobody takes the one
 * for the other, what a run would leave out is told, once for each file that says it.
 */
export async function tellUnaccepted(project: ProjectSettings, report: CheckReport): Promise<void> {
  const parts = Object.keys(await projectParts(project));
  if (parts.length === 0 || await isAcceptedHere(project)) return;
  const ofYaml = parts.filter((part) => !FILES.includes(part));
  if (ofYaml.length > 0) {
    const path = join(project.root, "orrery.yaml");
    tell(path, { parts: ofYaml, report, place: await placeIn(path, ofYaml) });
  }
  for (const part of parts.filter((each) => FILES.includes(each))) {
    tell(join(project.root, part), { parts: [part], report });
  }
}

function tell(path: string, { parts, report, place: { line, column } = START }: {
  readonly parts: readonly string[];
  readonly report: CheckReport;
  readonly place?: Pick<Span, "line" | "column">;
}): void {
  const message =
    `you have not accepted what this project says here, or not as it is now (${parts.join(", ")}): ` +
    "a run takes it as absent, this check as accepted";
  report.add({ kind: "settings", path, line, column, severity: "warning", message });
}

const START = { line: 1, column: 1 };

/** The first of the parts. */
async function placeIn(path: string, parts: readonly string[]): Promise<Pick<Span, "line" | "column">> {
  const document = await parseYaml(await hostFiles({ root: "/" }).readText(path), { file: path });
  const places = parts.flatMap((part) => document.at(part.split("."), "key") ?? []);
  return places.sort((a, b) => a.line - b.line)[0] ?? START;
}
