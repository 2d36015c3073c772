import { dirname } from "node:path";
import { checkAgent } from "../../../check/check_agent.ts";
import { byPlace } from "../../../core/core.ts";
import { readAgentFile } from "../../../parse/agent/read.ts";
import type { CheckOptions } from "../../check/targets.ts";
import type { CheckedFile } from "../kind.ts";
import { agentNeeds } from "../../talks/needs.ts";

/**
 * Tells what is wrong with agent files, what a run of one would lack, and what in it is likely not meant. What a run may still be given, such
 * as a grant, is a warning, unless the command is granting something.
 */
export async function checkFile(
  { path, text, tell }: CheckedFile,
  { places }: CheckOptions,
): Promise<void> {
  const problems = await checkAgent(text, { file: path });
  const { agent } = await readAgentFile(text, { file: path });
  const place = agent && await places.of(dirname(path));
  const needs = agent === undefined || place === undefined ? [] : await agentNeeds(agent, place.meets);
  const lacking = needs.map(({ isOpen, severity, ...need }) => ({
    ...need,
    severity: isOpen && !place?.isGranting ? "warning" as const : severity,
  }));
  for (const { path: part, message, file: _file, ...problem } of [...problems, ...lacking].sort(byPlace)) {
    tell({ ...problem, message: `${part}: ${message}` });
  }
}
