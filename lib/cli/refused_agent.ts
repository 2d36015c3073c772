import type { Terminal } from "../host/terminal.ts";
import { agentLines } from "../service/agent_lines.ts";
import { EXIT } from "../service/exit_code.ts";
import type { RefusedAgent } from "../service/open_agent.ts";

/** Tells why an agent cannot begin; gives the exit code. */
export async function refusedAgent({ problems }: RefusedAgent, { stderr }: Terminal): Promise<number> {
  if (problems === undefined) return EXIT.interrupted;
  await stderr.write(agentLines(problems));
  return EXIT.usage;
}
