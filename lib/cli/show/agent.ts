import { dirname, resolve } from "node:path";
import { realPath, workingFolder } from "../../host/paths.ts";
import { type AgentFile, isAgentName } from "../../parse/agent/agent.ts";
import { openSettings } from "../../project/project.ts";
import { printable } from "../../render/shown_text.ts";
import { shownJson } from "../../schema/issue.ts";
import { EXIT, UsageError } from "../../service/exit_code.ts";
import { agentOutline, sourceWords } from "../../service/kinds/conversation/look.ts";
import type { AgentStepJson } from "../../service/look/look.ts";
import { readAgent } from "../conversation/agent.ts";
import { listed, pageOf, type Told } from "../page.ts";
import type { ShowOptions } from "./prompt.ts";

/** `orrery show agent FILE`: its steps, where they go on, and the slots that they use. */
export async function showAgent(word: string, { terminal }: ShowOptions): Promise<Told | number> {
  if (!isAgentName(word)) {
    throw new UsageError(
      `Cannot show ${JSON.stringify(word)} as an agent: expected a file that ends with ".agent.yml"`,
      "show",
    );
  }
  const cwd = workingFolder();
  const project = await openSettings(dirname(realPath(resolve(cwd, word))));
  const agent = await readAgent(word, { project, terminal });
  if (agent === undefined) return EXIT.usage;
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
