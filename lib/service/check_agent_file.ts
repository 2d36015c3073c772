import { checkAgent } from "../check/check_agent.ts";
import { byPlace } from "../core/by_place.ts";
import { dirname } from "node:path";
import { FileError } from "../core/world.ts";
import { hostFiles } from "../host/files.ts";
import { readAgentFile } from "../parse/read_agent_file.ts";
import { agentNeeds } from "./agent_needs.ts";
import type { CheckPlaces } from "./check_places.ts";
import type { CheckReport } from "./check_report.ts";

/**
 * Tells what is wrong with an agent file, what a run of it would lack, and what in it is likely not meant. What a run may still be given, such
 * as a grant, is a warning, unless the command `isGranting`.
 */
export async function checkAgentFile(
  path: string,
  { places, report, isGranting }: {
    readonly places: CheckPlaces;
    readonly report: CheckReport;
    readonly isGranting: boolean;
  },
): Promise<void> {
  report.file(path);
  const given = places.textOf(path);
  const read = given === undefined ? await textOf(path) : { text: given };
  if ("problem" in read) {
    const { problem: message } = read;
    return report.add({ kind: "agent", path, line: 1, column: 1, severity: "error", message });
  }
  report.file(path, read.text);
  const problems = await checkAgent(read.text, { file: path });
  const { agent } = await readAgentFile(read.text, { file: path });
  const place = agent === undefined ? undefined : await places.of(dirname(path));
  const needs = agent === undefined || place === undefined ? [] : await agentNeeds(agent, place.meets);
  const lacking = needs.map(({ isOpen, severity, ...need }) => ({
    ...need,
    severity: isOpen && !isGranting ? "warning" as const : severity,
  }));
  for (const { path: part, message, file: _file, ...problem } of [...problems, ...lacking].sort(byPlace)) {
    report.add({ kind: "agent", path, ...problem, message: `${part}: ${message}` });
  }
}

async function textOf(path: string): Promise<{ readonly text: string } | { readonly problem: string }> {
  try {
    return { text: await hostFiles({ root: dirname(path) }).readText(path) };
  } catch (thrown) {
    if (!(thrown instanceof FileError)) throw thrown;
    return { problem: thrown.message };
  }
}
