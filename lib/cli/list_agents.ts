import { projectPath } from "../catalog/project_path.ts";
import { stepTree } from "../conversation/step_tree.ts";
import type { Json } from "../core/json.ts";
import { relative, sep } from "../core/path.ts";
import type { Files } from "../core/world.ts";
import { FileError } from "../core/world.ts";
import { hostFiles } from "../host/files.ts";
import { workingFolder } from "../host/paths.ts";
import type { Terminal } from "../host/terminal.ts";
import type { AgentFile } from "../parse/agent_file.ts";
import { isAgentName } from "../parse/agent_name.ts";
import { readAgentFile } from "../parse/read_agent_file.ts";
import { openSettings } from "../project/project.ts";
import { printable } from "../render/printable.ts";
import { agentLines } from "./agent_lines.ts";
import { EXIT } from "./exit_code.ts";
import { isTypable, tableText } from "./list_prompts.ts";
import type { ListLook } from "./list_prompts.ts";
import { walkFiles } from "./walk_files.ts";

interface ListedAgent {
  /** Absolute. */
  readonly path: string;
  /** From the project root. */
  readonly file: string;
  /** Absent: it is broken. */
  readonly agent?: AgentFile;
  /** The first thing that is wrong, as a line. */
  readonly problem?: string;
}

const NOTHING = "The project has no agents: they are files that end with .agent.yml or .agent.yaml";

/** `orrery list agents`: the conversations of the project. */
export async function listAgents(look: ListLook, terminal: Terminal): Promise<number> {
  const cwd = workingFolder();
  const { root } = await openSettings(cwd, { cwd });
  const agents = await agentsBelow(root);
  if (look.names) {
    const names = agents.map(({ path }) => relative(cwd, path).replaceAll(sep, "/")).filter(isTypable);
    await terminal.stdout.write(names.map((name) => `${name}\n`).join(""));
  } else if (look.json) {
    await terminal.stdout.write(`${JSON.stringify({ agents: agents.map(jsonOf) }, null, 2)}\n`);
  } else {
    const rows = agents.map((each) => [each.agent?.id ?? "?", each.file, String(stepsOf(each) ?? "?")]);
    await terminal.stdout.write(tableText(["AGENT", "FILE", "STEPS"], rows));
    const problems = agents.flatMap(({ problem }) => problem === undefined ? [] : [`${problem}\n`]);
    await terminal.stderr.write(agents.length === 0 ? `${NOTHING}\n` : printable(problems.join("")));
  }
  return EXIT.ok;
}

async function agentsBelow(root: string): Promise<readonly ListedAgent[]> {
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
    if (agent !== undefined) return { path, file, agent };
    const [line = ""] = agentLines(problems.filter(({ severity }) => severity === "error")).split("\n", 1);
    return { path, file, problem: line };
  } catch (thrown) {
    if (!(thrown instanceof FileError)) throw thrown;
    return { path, file, problem: `${file}: error: ${thrown.message}` };
  }
}

function stepsOf({ agent }: ListedAgent): number | undefined {
  return agent && stepTree(agent).ids.length;
}

function jsonOf({ file, agent, problem, ...rest }: ListedAgent): Json {
  return agent === undefined
    ? { file, problem: problem ?? "" }
    : { file, id: agent.id, steps: stepsOf({ file, agent, ...rest }) ?? 0 };
}
