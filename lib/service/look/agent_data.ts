import { projectPath } from "../../catalog/paths.ts";
import { checkAgent } from "../../check/check_agent.ts";
import { stepTree } from "../../conversation/step_tree.ts";
import { FileError, type Files } from "../../core/world.ts";
import { hostFiles } from "../../host/files.ts";
import { isAgentName, type SlotSource } from "../../parse/agent/agent.ts";
import { readAgentFile } from "../../parse/agent/read.ts";
import { agentLines } from "../agent_lines.ts";
import { agentOutline } from "../agent_outline.ts";
import { walkFiles } from "../walk_files.ts";
import { objectOf } from "./gadget_data.ts";
import type { AgentPageJson, ListedAgent } from "./look.ts";
import { agentProblem } from "./problem_data.ts";

/** The agents of a project: files of conversations. */
export async function agentsBelow(root: string): Promise<readonly ListedAgent[]> {
  const files = hostFiles({ root });
  const paths = await walkFiles(root, { files, isWanted: isAgentName });
  return await Promise.all(paths.map((path) => listed(path, { files, root })));
}

async function listed(
  path: string,
  { files, root }: { readonly files: Files; readonly root: string },
): Promise<ListedAgent> {
  const file = projectPath(path, root);
  try {
    const { agent, problems } = await readAgentFile(await files.readText(path), { file });
    if (agent !== undefined) return { file, id: agent.id, steps: stepTree(agent).ids.length };
    const [line = ""] = agentLines(problems.filter(({ severity }) => severity === "error")).split("\n", 1);
    return { file, problem: line };
  } catch (thrown) {
    if (!(thrown instanceof FileError)) throw thrown;
    return { file, problem: `${file}: error: ${thrown.message}` };
  }
}

/** Everything about an agent; of a broken one its text and what is wrong. @param file relative to the root @throws {FileError} */
export async function agentData(file: string, { root }: { readonly root: string }): Promise<AgentPageJson> {
  const source = await hostFiles({ root }).readText(file);
  const { agent } = await readAgentFile(source, { file });
  const problems = (await checkAgent(source, { file })).map((problem) =>
    agentProblem({ ...problem, message: `${problem.path}: ${problem.message}` }, file)
  );
  if (agent === undefined) {
    const problem = problems.find(({ severity }) => severity === "error")?.message ?? "";
    return { file, problem, source, constants: {}, slots: [], stepList: [], problems };
  }
  return {
    file,
    id: agent.id,
    steps: stepTree(agent).ids.length,
    source,
    constants: objectOf(agent.constants),
    slots: agent.preloads.map(({ name, source: from }) => ({ name, from: sourceWords(from) })),
    stepList: agentOutline(agent).map((step) => ({
      ...step,
      conditions: [...step.conditions],
      flows: { ...step.flows },
      reads: [...step.reads],
      writes: [...step.writes],
    })),
    problems,
  };
}

/** `table users: name` */
export function sourceWords(source: SlotSource): string {
  const key = "key" in source ? ` ${source.key}` : "";
  return `${source.kind}${key}: ${source.path}`;
}
