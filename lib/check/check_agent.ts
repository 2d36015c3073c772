import { byPlace } from "../core/by_place.ts";
import type { AgentProblem } from "../parse/agent_problem.ts";
import { readAgentFile } from "../parse/read_agent_file.ts";
import { findCutValues } from "../parse/yaml_tags.ts";
import { lintAgent } from "./lint_agent.ts";

/**
 * Everything that can be known to be wrong with an agent file before it runs, and, where nothing is, what is likely not meant: in the order of
 * the text. @param options `file`: its name in messages
 */
export async function checkAgent(
  text: string,
  { file }: { readonly file: string },
): Promise<readonly AgentProblem[]> {
  const { agent, problems } = await readAgentFile(text, { file });
  const cut = (await findCutValues(text)).map((each): AgentProblem => ({
    ...each,
    file,
    path: "file",
    code: "W635",
    severity: "warning",
  }));
  return [...problems, ...cut, ...agent === undefined ? [] : await lintAgent(agent)].sort(byPlace);
}
