import type { AgentFile } from "../parse/agent_file.ts";
import type { AgentProblem } from "../parse/agent_problem.ts";
import { AgentReading } from "../parse/read_agent_file.ts";
import { readAgentYaml } from "../parse/agent_yaml.ts";
import { lookAtAgent } from "./agent_look.ts";
import { lintBranchWrites, lintHoldInCombined } from "./lint_combined.ts";
import { lintChainGuard, lintNotEquals } from "./lint_conditions.ts";
import { lintEndlessLoop, lintNoMemory, lintUnreachable } from "./lint_flow.ts";
import type { LintRule } from "./lint_rule.ts";
import { lintNeverRead, lintNeverSet, lintNeverUsed } from "./lint_slots.ts";
import { lintMemory, lintSecretHeader } from "./lint_steps.ts";
import { lintEnv, lintPlaceholders } from "./lint_templates.ts";

const RULES: readonly LintRule[] = [
  lintUnreachable,
  lintEndlessLoop,
  lintMemory,
  lintNeverSet,
  lintNeverRead,
  lintNeverUsed,
  lintPlaceholders,
  lintEnv,
  lintHoldInCombined,
  lintBranchWrites,
  lintNotEquals,
  lintChainGuard,
  lintNoMemory,
  lintSecretHeader,
];

/** What is likely not meant in an agent that can be run (conversations.md 2.13), in the order of its text. What is deprecated its reader tells. */
export async function lintAgent(agent: AgentFile): Promise<readonly AgentProblem[]> {
  const yaml = await readAgentYaml(agent.text);
  const reading = new AgentReading(yaml, agent.file);
  for (const { path, text } of yaml.digits) {
    const message = `${text} is taken as text, since a number would lose digits; write it in quotes`;
    reading.tell(path, { message, code: "W639" });
  }
  const look = lookAtAgent(agent);
  for (const rule of RULES) {
    for (const { path, ...finding } of rule(look)) reading.tell(path, finding);
  }
  return reading.problems;
}
