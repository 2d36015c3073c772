import { typedPath } from "../../core/core.ts";
import { hostFiles } from "../../host/files/files.ts";
import type { Terminal } from "../../host/terminal/terminal.ts";
import type { AgentFile } from "../../parse/agent/agent.ts";
import { readAgentFile } from "../../parse/agent/read.ts";
import type { ProjectSettings } from "../../project/project.ts";
import { EXIT } from "../../service/exit_code.ts";
import type { RefusedAgent } from "../../service/talks/agent.ts";
import { agentLines } from "../../service/talks/needs.ts";
import { orNearest } from "../run/source.ts";
import { pathInProject } from "../../host/paths.ts";

/** Reads an agent file; undefined when something is wrong with it, all of which is told. @throws {FileError} */
export async function readAgent(
  word: string,
  { project, terminal }: { readonly project: ProjectSettings; readonly terminal: Terminal },
): Promise<AgentFile | undefined> {
  const { cwd } = project;
  const text = await orNearest(word, cwd, hostFiles({ root: cwd }).readText(word));
  return await tellingProblems(text, { file: pathInProject(word, project), project, terminal });
}

/** The same of a text that is there already. @param options `file`: from the root */
export async function tellingProblems(
  text: string,
  { file, project, terminal }: {
    readonly file: string;
    readonly project: ProjectSettings;
    readonly terminal: Terminal;
  },
): Promise<AgentFile | undefined> {
  const { agent, problems } = await readAgentFile(text, { file });
  if (agent === undefined) await refusedAgent({ problems }, { project, terminal });
  return agent;
}

/** Tells what is wrong with an agent file, or why an agent cannot begin; gives the exit code. */
export async function refusedAgent(
  { problems }: RefusedAgent,
  { project, terminal }: { readonly project: ProjectSettings; readonly terminal: Terminal },
): Promise<number> {
  const typed = problems.map((problem) => ({ ...problem, file: typedPath(problem.file, project) }));
  await terminal.stderr.write(agentLines(typed));
  return EXIT.usage;
}
