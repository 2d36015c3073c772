import { dirname, resolve } from "node:path";
import { realPath, workingFolder } from "../host/paths.ts";
import type { Terminal } from "../host/terminal.ts";
import { isAgentName } from "../parse/agent_file.ts";
import { openSettings } from "../project/project.ts";
import { printable } from "../render/shown_text.ts";
import { agentOutline } from "../service/agent_outline.ts";
import { agentPage } from "./agent_page.ts";
import { EXIT, UsageError } from "../service/exit_code.ts";
import { readAgent } from "./read_agent.ts";

/** `orrery show agent FILE`: its steps, where they go on, and the slots that they use. */
export async function showAgent(
  word: string,
  { flags, terminal }: { readonly flags: { readonly json: boolean }; readonly terminal: Terminal },
): Promise<number> {
  if (!isAgentName(word)) {
    const problem = `Cannot show ${
      JSON.stringify(word)
    } as an agent: expected a file that ends with ".agent.yml"`;
    throw new UsageError([problem], { command: "show" });
  }
  const cwd = workingFolder();
  const project = await openSettings(dirname(realPath(resolve(cwd, word))), { cwd });
  const agent = await readAgent(word, { project, terminal });
  if (agent === undefined) return EXIT.usage;
  const { id, file, constants, preloads } = agent;
  const steps = agentOutline(agent);
  const text = flags.json
    ? `${JSON.stringify({ id, file, constants, slots: preloads, steps }, null, 2)}\n`
    : printable(agentPage(agent, steps));
  await terminal.stdout.write(text);
  return EXIT.ok;
}
