// Agent files for tests: the cases, small ones of a few parts, and random ones.
import {
  type AgentFile,
  AgentFileError,
  type AgentProblem,
  type AgentStep,
  type Json,
  type JsonObject,
  loadAgent,
  type ModelFields,
  type SlotPath,
  type StepCondition,
} from "../mod.ts";

const CASES = new URL("spec/conversations/", import.meta.url);

/** A case: its name without the ending, and its text. */
export interface AgentCase {
  readonly name: string;
  readonly text: string;
}

/** All cases of a kind, in order. */
export async function agentCases(kind: "valid" | "invalid"): Promise<readonly AgentCase[]> {
  const names = [...Deno.readDirSync(new URL(`${kind}/`, CASES))].map(({ name }) => name).sort();
  return await Promise.all(names.map(async (name) => ({
    name: name.replace(".agent.yml", ""),
    text: await Deno.readTextFile(new URL(`${kind}/${name}`, CASES)),
  })));
}

/** A file of the folder of the cases. */
export function caseFile(name: string): Promise<string> {
  return Deno.readTextFile(new URL(name, CASES));
}

/** An agent whose root is given in YAML, one step or several of a chain `main`; it begins on line 4. */
export function agentText(steps: string): string {
  const isList = steps.startsWith("- ");
  const lines = steps.trimEnd().split("\n").map((line) => `    ${isList ? "  " : ""}${line}\n`).join("");
  const root = isList ? `    id: main\n    chain:\n${lines}` : lines;
  return `version: "0.1"\nstructure:\n  id: a\n  action:\n${root}`;
}

/** Reads a text. Its agent, or everything that is wrong with it. */
export async function readAgent(
  text: string,
  file: string,
): Promise<{ readonly agent?: AgentFile; readonly problems: readonly AgentProblem[] }> {
  try {
    return { agent: await loadAgent({ file, text }), problems: [] };
  } catch (error) {
    if (!(error instanceof AgentFileError)) throw error;
    return { problems: error.problems };
  }
}

/** The steps of a chain or a combined step, none of another. */
export function stepsIn(step: AgentStep): readonly AgentStep[] {
  return step.kind === "chain" || step.kind === "combined" ? step.steps : [];
}

/** What is wrong with a text, a line each: `structure.action.llm: MESSAGE <- TEXT`, with what stands at the place. */
export async function problemLines(text: string): Promise<readonly string[]> {
  const { problems } = await readAgent(text, "a.agent.yml");
  return problems.map((problem) => `${problem.path}: ${problem.message} <- ${textAt(text, problem)}`);
}

/** What stands at the place of a problem: a few characters of its line. */
export function textAt(text: string, { line, column }: Pick<AgentProblem, "line" | "column">): string {
  return (text.split("\n")[line - 1] ?? "").slice(column - 1, column + 7);
}

/** A step as a file spells it: the reverse of reading, so that what is read back can be compared. */
export function writtenStep(step: AgentStep): JsonObject {
  return {
    id: step.id,
    ...(step.conditions.length === 0 ? {} : { conditions: step.conditions.map(writtenCondition) }),
    [step.kind]: writtenBody(step),
  };
}

function writtenCondition({ slot, operation }: StepCondition): JsonObject {
  return { ...writtenSlot(slot), condition: { [operation.operator]: operation.value } };
}

function writtenSlot({ name, destination }: SlotPath): JsonObject {
  return destination === "conversation" ? { name } : { name, destination };
}

function target(slot: SlotPath): JsonObject {
  return { slot: writtenSlot(slot) };
}

function writtenBody(step: AgentStep): Json {
  switch (step.kind) {
    case "chain":
    case "combined":
      return step.steps.map(writtenStep);
    case "flow":
      return step.flow;
    case "message":
      return { message: step.message, hold: step.hold };
    case "llm": {
      const { hold, store, tools } = step;
      return {
        ...writtenModel(step),
        hold,
        ...(store === undefined ? {} : { store: target(store) }),
        ...(tools === undefined ? {} : { tools }),
      };
    }
    case "set-slot":
      return { values: step.values.map(({ path, value }) => ({ path: writtenSlot(path), value })) };
    case "counter":
      return { slot: writtenSlot(step.slot) };
    case "retriever": {
      const { limit, secondary } = step;
      return { query: writtenSlot(step.query), target: target(step.target), limit, secondary };
    }
    case "api-call": {
      const { url, method, headers, body, responsePath, success, fail } = step;
      return {
        url,
        method,
        headers: headers.map((header) => ({ ...header })),
        ...(body === undefined ? {} : { body }),
        ...(responsePath === undefined ? {} : { "response-path": responsePath }),
        target: target(step.target),
        success,
        fail,
      };
    }
    case "validator": {
      const { goals, type, success, fail } = step;
      return { goals: goals.map((goal) => ({ ...goal })), type, success, fail, ...writtenModel(step) };
    }
    case "extractor": {
      const { values, success, fail } = step;
      const written = values.map(({ description, type, examples, target: slot }) => ({
        description,
        type,
        examples,
        target: target(slot),
      }));
      return { values: written, success, fail, ...writtenModel(step), "skip-prefix": step.skipPrefix };
    }
    case "summarizer":
      return { type: step.type, ...writtenModel(step), "skip-prefix": step.skipPrefix };
    case "gadget": {
      const { name, input, target: slot } = step;
      return { name, input, ...(slot === undefined ? {} : { target: target(slot) }) };
    }
    case "run": {
      const { file, input } = step;
      return { file, ...(input === undefined ? {} : { input }) };
    }
    case "sse-call":
      throw new Error("not written here: it has nothing that api-call has not");
    default:
      return step satisfies never;
  }
}

function writtenModel({ prompts, model, temperature, memory, memoryLimit, effort }: ModelFields): JsonObject {
  return {
    prompts: prompts.map((prompt) =>
      prompt.role === "constant"
        ? { constant: prompt.name }
        : { [prompt.role === "assistant" ? "a-i" : prompt.role]: prompt.text }
    ),
    ...(model === undefined ? {} : { model }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(memory === undefined ? {} : { memory: memory.map((selection) => ({ ...selection })) }),
    ...(memoryLimit === undefined ? {} : { "memory-limit": memoryLimit }),
    ...(effort === undefined ? {} : { "reasoning-effort": effort }),
  };
}
