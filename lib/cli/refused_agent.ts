import type { Terminal } from "../host/terminal.ts";
import type { ProjectSettings } from "../project/project.ts";
import { tellProblems } from "./read_agent.ts";
import { EXIT } from "../service/exit_code.ts";
import type { RefusedAgent } from "../service/talks/agent.ts";

/** Tells why an agent cannot begin; gives the exit code. */
export async function refusedAgent(
  { problems }: RefusedAgent,
  options: { readonly project: ProjectSettings; readonly terminal: Terminal },
): Promise<number> {
  if (problems === undefined) return EXIT.interrupted;
  await tellProblems(problems, options);
  return EXIT.usage;
}
