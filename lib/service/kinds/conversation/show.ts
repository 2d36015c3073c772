import type { AgentFile } from "../../../parse/agent/agent.ts";
import { listed, pageOf } from "../../../render/page_text.ts";
import { agentOutline, sourceWords } from "./look.ts";
import { typedPath } from "../../../core/core.ts";
import { readAgentFile } from "../../../parse/agent/read.ts";
import { agentLines } from "../../talks/needs.ts";
import type { LookedFile, Shown } from "../kind.ts";
import { printable } from "../../../render/shown_text.ts";
import { shownJson } from "../../../schema/issue.ts";
import type { AgentStepJson } from "../../look/look.ts";

/** Its steps, where they go on, and the slots that they use. */
export async function show({ file: named, text, project }: LookedFile): Promise<Shown> {
  const { agent, problems } = await readAgentFile(text, { file: named });
  if (agent === undefined) {
    return {
      refused: agentLines(problems.map((each) => ({ ...each, file: typedPath(each.file, project) }))),
    };
  }
  const { id, file, constants, preloads: slots } = agent;
  const steps = agentOutline(agent);
  return { json: { id, file, constants, slots, steps }, text: printable(agentPage(agent, steps)) };
}

/** Everything about an agent, for people. */
function agentPage(agent: AgentFile, steps: readonly AgentStepJson[]): string {
  const { id, file, constants, preloads } = agent;
  return pageOf([
    `${id}  (${file})`,
    listed("Constants", Object.entries(constants).map(([name, value]) => [name, shownJson(value)])),
    listed("Filled before the first step", preloads.map(({ name, source }) => [name, sourceWords(source)])),
    listed("Steps", steps.map(stepCells)),
  ]);
}

function stepCells(step: AgentStepJson): readonly string[] {
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
