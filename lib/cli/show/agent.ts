import { dirname, resolve } from "node:path";
import { realPath, workingFolder } from "../../host/paths.ts";
import type { Terminal } from "../../host/terminal/terminal.ts";
import { type AgentFile, isAgentName } from "../../parse/agent/agent.ts";
import { openSettings } from "../../project/project.ts";
import { printable } from "../../render/shown_text.ts";
import { shownJson } from "../../schema/issue.ts";
import { EXIT, UsageError } from "../../service/exit_code.ts";
import { agentOutline, sourceWords } from "../../service/look/agents.ts";
import type { AgentStepJson } from "../../service/look/look.ts";
import { readAgent } from "../conversation/agent.ts";
import { jsonPage, listed, pageOf } from "../page.ts";

/** `orrery show agent FILE`: its steps, where they go on, and the slots that they use. */
export async function showAgent(
  word: string,
  { flags, terminal }: { readonly flags: { readonly json: boolean }; readonly terminal: Terminal },
): Promise<number> {
  if (!isAgentName(word)) {
    const problem = `Cannot show ${
      JSON.stringify(word)
    } as an agent: expected a file that ends with ".agent.yml"`;
    throw new UsageError(problem, "show");
  }
  const cwd = workingFolder();
  const project = await openSettings(dirname(realPath(resolve(cwd, word))), { cwd });
  const agent = await readAgent(word, { project, terminal });
  if (agent === undefined) return EXIT.usage;
  const { id, file, constants, preloads } = agent;
  const steps = agentOutline(agent);
  const text = flags.json
    ? jsonPage({ id, file, constants, slots: preloads, steps })
    : printable(agentPage(agent, steps));
  await terminal.stdout.write(text);
  return EXIT.ok;
}

/** Everything about an agent, for people. */
function agentPage(agent: AgentFile, steps: readonly AgentStepJson[]): string {
  const { id, file, constants, preloads } = agent;
  const sections = [
    `${id}  (${file})`,
    listed("Constants", Object.entries(constants).map(([name, value]) => [name, shownJson(value)])),
    listed("Filled before the first step", preloads.map(({ name, source }) => [name, sourceWords(source)])),
    listed("Steps", steps.map(stepCells)),
  ];
  return pageOf(sections);
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
