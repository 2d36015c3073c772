import { agentsBelow } from "../service/look/agent_data.ts";
import { typedPath } from "../catalog/shown_path.ts";
import { workingFolder } from "../host/paths.ts";
import type { Terminal } from "../host/terminal.ts";
import { openSettings } from "../project/project.ts";
import { printable } from "../render/shown_text.ts";
import { EXIT } from "../service/exit_code.ts";
import { isTypable, tableText } from "./list_prompts.ts";
import type { ListLook } from "./list_prompts.ts";

const NOTHING = "The project has no agents: they are files that end with .agent.yml or .agent.yaml";

/** `orrery list agents`: the conversations of the project. */
export async function listAgents(look: ListLook, terminal: Terminal): Promise<number> {
  const cwd = workingFolder();
  const project = await openSettings(cwd, { cwd });
  const typed = (file: string): string => typedPath(file, project);
  const agents = await agentsBelow(project.root);
  if (look.names) {
    const names = agents.map(({ file }) => typed(file)).filter(isTypable);
    await terminal.stdout.write(names.map((name) => `${name}\n`).join(""));
  } else if (look.json) {
    await terminal.stdout.write(`${JSON.stringify({ agents }, null, 2)}\n`);
  } else {
    const rows = agents.map(({ id = "?", file, steps = "?" }) => [id, typed(file), String(steps)]);
    await terminal.stdout.write(tableText(["AGENT", "FILE", "STEPS"], rows));
    const problems = agents.flatMap(({ file, problem }) =>
      problem === undefined ? [] : [`${typed(file)}${problem.slice(file.length)}\n`]
    );
    await terminal.stderr.write(agents.length === 0 ? `${NOTHING}\n` : printable(problems.join("")));
  }
  return EXIT.ok;
}
