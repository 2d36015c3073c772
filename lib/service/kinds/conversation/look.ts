import { typedPath } from "../../../core/core.ts";
import type { ProjectSettings } from "../../../project/project.ts";
import { printable } from "../../../render/shown_text.ts";
import type { FileList } from "../kind.ts";
import { conversation } from "./conversation.ts";
import { FileError, type Files, projectPath, toJsonObject } from "../../../core/core.ts";
import { checkAgent } from "../../../check/check_agent.ts";
import { conditionText } from "../../../conversation/failing_condition.ts";
import { type SlotRead, slotsRead, slotsWritten, type SlotTarget } from "../../../conversation/step_slots.ts";
import { stepTree } from "../../../conversation/step_tree.ts";
import { hostFiles } from "../../../host/files/files.ts";
import { type AgentFile, type SlotSource, type StepFlow } from "../../../parse/agent/agent.ts";
import { readAgentFile } from "../../../parse/agent/read.ts";
import { flowsOf, stepPlaces } from "../../../parse/agent/tree.ts";
import { agentLines } from "../../talks/needs.ts";
import { walkFiles } from "../../project_files.ts";
import type { AgentPageJson, AgentStepJson, ListedAgent } from "../../look/look.ts";
import { problemJson } from "../../check/report.ts";

/** Its agents as a table; what is wrong with broken ones is below it. */
export async function list(project: ProjectSettings): Promise<FileList> {
  const files = await agentsBelow(project.root);
  const typed = (file: string): string => typedPath(file, project);
  const problems = files.flatMap(({ file, problem }) =>
    problem === undefined ? [] : [`${typed(file)}${problem.slice(file.length)}\n`]
  );
  return {
    files,
    head: ["AGENT", "FILE", "STEPS"],
    rows: files.map(({ id = "?", file, steps = "?" }) => [id, typed(file), String(steps)]),
    notes: files.length === 0
      ? "The project has no agents: they are files that end with .agent.yml or .agent.yaml\n"
      : printable(problems.join("")),
  };
}

/** The agents of a project: files of conversations. */
export async function agentsBelow(root: string): Promise<readonly ListedAgent[]> {
  const files = hostFiles({ root });
  const paths = await walkFiles(root, { files, isWanted: conversation.file.is });
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
    problemJson("conversation", file, { ...problem, message: `${problem.path}: ${problem.message}` })
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
    constants: toJsonObject(agent.constants),
    slots: agent.preloads.map(({ name, source: from }) => ({ name, from: sourceWords(from) })),
    stepList: agentOutline(agent),
    problems,
  };
}

/** `table users: name` */
export function sourceWords(source: SlotSource): string {
  const key = "key" in source ? ` ${source.key}` : "";
  return `${source.kind}${key}: ${source.path}`;
}

/** What an agent consists of, its steps in the order of the file. */
export function agentOutline(agent: AgentFile): readonly AgentStepJson[] {
  return stepPlaces(agent.root).map(({ step, path }) => ({
    id: step.id,
    kind: step.kind,
    depth: (path.length - 2) / 2, // a key and a number for each
    line: step.span.line,
    isHolding: (step.kind === "message" || step.kind === "llm") && step.hold,
    conditions: step.conditions.map(conditionText),
    flows: Object.fromEntries(flowsOf(step).map(({ flow, path }) => [String(path.at(-1)), flowText(flow)])),
    reads: names(slotsRead(step), agent),
    writes: names(slotsWritten(step), agent),
  }));
}

/** `goto ask`, `repeat` */
function flowText(flow: StepFlow): string {
  return "goto" in flow ? `goto ${flow.goto}` : flow.action;
}

/** Each slot once; a placeholder that names a constant is none. */
function names(slots: readonly (SlotRead | SlotTarget)[], { constants }: AgentFile): readonly string[] {
  const own = slots.filter((slot) =>
    !("by" in slot && slot.by === "bare-placeholder" && Object.hasOwn(constants, slot.slot.name))
  );
  return [...new Set(own.map(({ slot }) => `${slot.destination}.${slot.name}`))];
}
