import type { AgentFile } from "../parse/agent_file.ts";
import { printableLine } from "../render/shown_text.ts";
import { table } from "../render/table.ts";
import { shownJson } from "../schema/issue.ts";
import { sourceWords } from "../service/look/agent_data.ts";
import type { OutlinedStep } from "../service/agent_outline.ts";

/** Everything about an agent, for people. */
export function agentPage(agent: AgentFile, steps: readonly OutlinedStep[]): string {
  const { id, file, constants, preloads } = agent;
  const sections = [
    `${id}  (${file})`,
    listed("Constants", Object.entries(constants).map(([name, value]) => [name, shownJson(value)])),
    listed("Filled before the first step", preloads.map(({ name, source }) => [name, sourceWords(source)])),
    listed("Steps", steps.map(stepCells)),
  ];
  return `${sections.filter((section) => section !== "").join("\n\n")}\n`;
}

function stepCells(step: OutlinedStep): readonly string[] {
  const { id, kind, depth, conditions, flows, isHolding, reads, writes } = step;
  const words = [
    ...conditions.map((condition, index) => `${index === 0 ? "if" : "and"} ${condition}`),
    ...(isHolding ? ["waits for the user"] : []),
    ...Object.entries(flows).map(([key, flow]) => key === "flow" ? flow : `${key}: ${flow}`),
    ...(reads.length === 0 ? [] : [`reads ${reads.join(", ")}`]),
    ...(writes.length === 0 ? [] : [`writes ${writes.join(", ")}`]),
  ];
  return [`${"  ".repeat(depth)}${id}`, kind, words.join("; ")];
}

function listed(what: string, rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return "";
  const lines = table(rows.map((row) => row.map(printableLine)));
  return `${what}:\n${lines.map((line) => `  ${line}`).join("\n")}`;
}
