import {
  jsonTexts,
  type SlotRead,
  slotsInText,
  slotsRead,
  slotsWritten,
  type SlotTarget,
  type StepText,
  stepTexts,
} from "../conversation/step_slots.ts";
import { type StepTree, stepTree } from "../conversation/step_tree.ts";
import { byPlace, nearestName, orMeant } from "../core/core.ts";
import {
  type AgentCode,
  type AgentFile,
  type AgentProblem,
  type AgentStep,
  type ConditionOperation,
  DESTINATIONS,
  type SlotPath,
} from "../parse/agent/agent.ts";
import { AgentReading, readAgentFile } from "../parse/agent/read.ts";
import { flowsOf, type StepPlace, stepPlaces, stepsIn } from "../parse/agent/tree.ts";
import type { FilePath, Finding } from "../parse/shape/shape.ts";
import { MOST_TOLD } from "../parse/yaml/check_fields.ts";
import { findCutValues } from "../parse/yaml/tags.ts";
import { AgentGraph, END } from "./agent_graph.ts";

/** A step behind one that always goes on elsewhere, and that nothing jumps to. */
function* lintUnreachable({ agent, tree, graph, places }: AgentLook): Findings {
  const entered = graph.reachable([agent.root.id]);
  // A jump into the middle of a chain reaches the chain, and leaves out what comes before.
  const reached = new Set([...entered].flatMap((node) => typeof node === "string" ? tree.path(node) : []));
  for (const { step, path } of places) {
    const around = tree.parent(step.id);
    if (reached.has(step) || around === undefined || !reached.has(around)) continue;
    const before = stepsIn(around)[tree.index(step.id) - 1];
    if (before !== undefined && !reached.has(before)) continue; // it has been told
    const why = before === undefined
      ? `${JSON.stringify(around.id)} is only entered behind it`
      : `${JSON.stringify(before.id)} always goes on elsewhere`;
    yield { path, message: `the step ${JSON.stringify(step.id)} is never reached: ${why}` };
  }
}

/** A way back in a part that nothing leads out of, and in which nothing waits. */
function* lintEndlessLoop({ agent, tree, graph, places }: AgentLook): Findings {
  const reached = graph.reachable([agent.root.id]);
  const leadsOut = graph.leadingTo([END, ...places.flatMap(({ step }) => isHolding(step) ? [step.id] : [])]);
  const order = new Map(tree.ids.map((id, index) => [id, index]));
  for (const { step, path } of places) {
    if (!reached.has(step.id) || leadsOut.has(step.id)) continue;
    const here = order.get(step.id) ?? 0;
    const isBack = graph.next(step.id).some((next) =>
      typeof next === "string" && (order.get(next) ?? 0) <= here
    );
    const [flow] = flowsOf(step);
    if (!isBack || flow === undefined) continue;
    yield {
      path: [...path, ...flow.path],
      message: "this loop never ends: nothing in it waits for the user, and nothing leads out of it",
      hint: "Let a step hold, or add a condition to the chain.",
    };
  }
}

/** A model that speaks when the user has spoken, and does not see what was said. */
function* lintNoMemory({ graph, places }: AgentLook): Findings {
  const holding = places.filter(({ step }) => isHolding(step));
  const behind = graph.reachable(holding.flatMap(({ step }) => graph.next(step.id)));
  for (const { step, path } of places) {
    if (step.kind !== "llm" || (step.memory ?? []).length > 0 || !behind.has(step.id)) continue;
    yield {
      path: [...path, "llm"],
      message: `the model does not see what the user has said: there is no "memory"`,
      hint: "Add memory, such as - selector: all.",
    };
  }
}

/** Whether the step waits for the user. */
function isHolding(step: AgentStep): boolean {
  return (step.kind === "message" || step.kind === "llm") && step.hold;
}

/** A slot that is inserted or asked with, and that nothing fills. Slots that outlive a conversation may be filled by another. */
function* lintNeverSet({ agent, reads, writes }: AgentLook): Findings {
  const set = new Set(writes.filter(({ slot }) => isOwn(slot)).map(({ slot }) => slot.name));
  const known = new Set([...set, ...Object.keys(agent.constants)]);
  const unknown = reads.filter(({ slot, by }) =>
    by !== "condition" && isOwn(slot) && !(by === "bare-placeholder" ? known : set).has(slot.name)
  );
  // Each is compared with all names.
  for (const { slot, path, by } of unknown.slice(0, MOST_TOLD)) {
    const near = orMeant(nearestName(slot.name, by === "bare-placeholder" ? known : set));
    yield { path, message: `nothing sets the slot ${slotWord(slot)}${near}` };
  }
}

/** A slot of the conversation that is filled for nothing. */
function* lintNeverRead(look: AgentLook): Findings {
  const told = new Set<string>();
  for (const { slot, path, by } of unread(look)) {
    // What a validator says is taken by its success and fail.
    if (by?.kind === "validator" || by?.kind === "extractor" || told.has(slot.name)) continue;
    told.add(slot.name);
    yield { path, message: `the slot ${slotWord(slot)} is filled and never read` };
  }
}

/** What an extractor finds for nothing. */
function* lintNeverUsed(look: AgentLook): Findings {
  for (const { slot, path, by } of unread(look)) {
    if (by?.kind === "extractor") {
      yield { path, message: `what is found for ${slotWord(slot)} is never used` };
    }
  }
}

function unread({ reads, writes }: AgentLook): AgentLook["writes"] {
  const read = new Set(reads.filter(({ slot }) => isOwn(slot)).map(({ slot }) => slot.name));
  return writes.filter(({ slot }) => isOwn(slot) && !read.has(slot.name));
}

function isOwn({ destination }: SlotPath): boolean {
  return destination === "conversation";
}

/** `"conversation.name"` */
function slotWord({ destination, name }: SlotPath): string {
  return JSON.stringify(`${destination}.${name}`);
}

/** `not-equals` holds for a slot that was never filled. */
function* lintNotEquals({ tree, places }: AgentLook): Findings {
  for (const { step, path } of places) {
    for (const [index, { slot, operation }] of step.conditions.entries()) {
      if (operation.operator !== "not-equals" || isSurelyThere(slot, tree.path(step.id))) continue;
      yield {
        path: [...path, "conditions", index],
        message: `"not-equals" holds too when the slot ${slotWord(slot)} is missing`,
        hint: "Add a condition with exists: true, or set the slot before.",
      };
    }
  }
}

/** A condition of a chain is checked when the chain begins: what the chain itself sets counts only where it begins again. */
function* lintChainGuard({ tree, graph, places, writes }: AgentLook): Findings {
  for (const { step: { id, kind, conditions }, path } of places) {
    if (kind !== "chain" || conditions.length === 0) continue;
    const inside = tree.descendants(id);
    if (graph.reachable([...inside].flatMap((each) => graph.next(each))).has(id)) continue;
    for (const [index, { slot }] of conditions.entries()) {
      const by = writes.find((write) => inside.has(write.by?.id ?? "") && isSame(write.slot, slot))?.by;
      if (by === undefined) continue;
      const message =
        `the slot ${slotWord(slot)} is set inside the chain, by ${JSON.stringify(by.id)}, and the ` +
        "condition is checked only when the chain begins";
      yield { path: [...path, "conditions", index], message };
    }
  }
}

/** Whether a condition on the way to a step asks for the slot, or a step before it always fills it. */
function isSurelyThere(slot: SlotPath, way: readonly AgentStep[]): boolean {
  return way.some((step, depth) => {
    const next = way[depth + 1];
    const before = step.kind === "chain" && next !== undefined
      ? step.steps.slice(0, step.steps.indexOf(next))
      : [];
    return before.some((each) => surelyWrites(each, slot)) ||
      step.conditions.some((condition) => isSame(condition.slot, slot) && asksForValue(condition.operation));
  });
}

function asksForValue({ operator, value }: ConditionOperation): boolean {
  return operator === "exists" ? value : operator === "equals" ? value !== null : operator !== "not-equals";
}

function surelyWrites(step: AgentStep, slot: SlotPath): boolean {
  if (step.conditions.length > 0) return false;
  return slotsWritten(step).some((write) => write.isSure && isSame(write.slot, slot)) ||
    stepsIn(step).some((each) => surelyWrites(each, slot));
}

function isSame(a: SlotPath, b: SlotPath): boolean {
  return a.destination === b.destination && a.name === b.name;
}

const LOOKS_LIKE_ONE = /\{\{[^{}]*\}\}/g;
const PLACEHOLDER = /^\{\{[ \t]*(?:([\w-]+)\.)?[\w-]+[ \t]*\}\}$/;
const ENV = /\$\{env\.\w+\}/;

/** `{name}` and `${name}`, as other kinds of files have it. */
const FOREIGN = /(?<!\{)\$?\{((?:[\w-]+\.)?[\w-]+)\}(?!\})/g;

/** What looks like a placeholder and stays as it is (conversations.md 2.6). */
function* lintPlaceholders({ agent, texts, writes }: AgentLook): Findings {
  const known = new Set([
    ...Object.keys(agent.constants),
    ...writes.flatMap(({ slot: { destination, name } }) => [name, `${destination}.${name}`]),
  ]);
  for (const { text, path } of texts) {
    const messages = [...text.matchAll(LOOKS_LIKE_ONE)].map(([found]) => placeholderProblem(found));
    const foreign = [...text.matchAll(FOREIGN)].map(([found, name = ""]) =>
      known.has(name) ? `${found} stays as it is; the slot or constant is {{${name}}}` : undefined
    );
    for (const message of [...messages, ...foreign]) if (message !== undefined) yield { path, message };
  }
}

function placeholderProblem(found: string): string | undefined {
  const match = PLACEHOLDER.exec(found);
  if (match === null) {
    return `${
      JSON.stringify(found)
    } is no placeholder and stays as it is; write {{slot}} or {{destination.slot}}`;
  }
  const [, destination] = match;
  if (destination === undefined || DESTINATIONS.some((each) => each === destination)) return undefined;
  const near = orMeant(nearestName(destination, DESTINATIONS));
  return `${found} stays as it is: there is no destination ${JSON.stringify(destination)}${near}`;
}

/** `${env.NAME}` where it is only text (conversations.md 3). */
function* lintEnv({ texts }: AgentLook): Findings {
  for (const { text, path, hasEnv } of texts) {
    const [found] = hasEnv ? [] : ENV.exec(text) ?? [];
    if (found === undefined) continue;
    yield {
      path,
      message: `${found} stays as it is here`,
      hint: "The environment is inserted in url, in the values of headers and in model only.",
    };
  }
}

/** A step that waits while others are done beside it. */
function* lintHoldInCombined({ tree, places }: AgentLook): Findings {
  for (const { step, path } of places) {
    const around = tree.branchAround(step.id);
    if (around === undefined || !isHolding(step)) continue;
    const both = JSON.stringify(around.combined.id);
    yield {
      path: [...path, step.kind, "hold"],
      message: `one answer goes to every step that waits in the combined step ${both}`,
      hint: "Put steps that wait into a chain.",
    };
  }
}

/** A slot that two branches write. */
function* lintBranchWrites({ tree, places, writes }: AgentLook): Findings {
  for (const { step } of places) {
    if (step.kind !== "combined") continue;
    const first = new Map<string, string>();
    for (const { id } of step.steps) {
      const inside = tree.descendants(id);
      for (const { slot, path, by } of writes) {
        if (by === undefined || !inside.has(by.id)) continue;
        const before = first.get(slotWord(slot)) ?? id;
        first.set(slotWord(slot), before);
        const message =
          `two branches write the slot ${slotWord(slot)}: what ${JSON.stringify(id)} writes replaces ` +
          `what ${JSON.stringify(before)} writes`;
        if (before !== id) yield { path, message };
      }
    }
  }
}

/** A memory of a step that is not there. */
function* lintMemory({ tree, places }: AgentLook): Findings {
  let compared = 0;
  for (const { step, path } of places) {
    for (const [index, selection] of ("memory" in step ? step.memory ?? [] : []).entries()) {
      if (!("from" in selection) || tree.find(selection.from) !== undefined) continue;
      if (compared++ >= MOST_TOLD) return; // each is compared with all ids
      const near = orMeant(nearestName(selection.from, tree.ids));
      const message = `there is no step ${JSON.stringify(selection.from)}, so nothing is selected${near}`;
      yield { path: [...path, step.kind, "memory", index, "from"], message };
    }
  }
}

const SECRET_HEADER =
  /^(proxy-)?authorization$|cookie|token|secret|passw|credential|(api|auth|access|private)[-_]?key/i;
const SECRET_VALUE = /^(bearer|basic|token)\s+\S|^(sk|pk|rk|ghp|gho|glpat|xox[abp])[-_]\w{8,}|^AKIA\w{12,}/i;
const INSERTED = /\{\{|\$\{env\./;

/** A key that stands in the file for all to see. */
function* lintSecretHeader({ places }: AgentLook): Findings {
  for (const { step, path } of places) {
    for (const [index, { key, value }] of ("headers" in step ? step.headers : []).entries()) {
      const isSecret = value !== "" && (SECRET_HEADER.test(key) || SECRET_VALUE.test(value));
      if (!isSecret || INSERTED.test(value)) continue;
      yield {
        path: [...path, step.kind, "headers", index, "value"],
        message: `the header ${JSON.stringify(key)} looks like a secret that is written in the file`,
        hint: "Write ${env.NAME}, and set the variable where the agent runs.",
      };
    }
  }
}

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

/** What is looked for, with its code and where to look. */
const RULES:
  readonly (readonly [code: AgentCode, at: "key" | "value", find: (look: AgentLook) => Findings])[] = [
    ["W627", "key", lintUnreachable],
    ["W628", "key", lintEndlessLoop],
    ["W624", "value", lintMemory],
    ["W621", "value", lintNeverSet],
    ["W622", "value", lintNeverRead],
    ["W623", "value", lintNeverUsed],
    ["W620", "value", lintPlaceholders],
    ["W625", "value", lintEnv],
    ["W629", "key", lintHoldInCombined],
    ["W630", "value", lintBranchWrites],
    ["W631", "key", lintNotEquals],
    ["W632", "key", lintChainGuard],
    ["W633", "key", lintNoMemory],
    ["W634", "value", lintSecretHeader],
  ];

/** What is likely not meant in an agent that can be run (conversations.md 2.13), in the order of its text. What is deprecated its reader tells. */
async function lintAgent(agent: AgentFile): Promise<readonly AgentProblem[]> {
  const reading = await AgentReading.of(agent);
  const { tree } = reading.yaml;
  for (const [start, end] of tree.digits) {
    const text = agent.text.slice(start, end);
    const message = `${text} is taken as text, since a number would lose digits; write it in quotes`;
    reading.tell(tree.pathAt(start), { message, code: "W639" });
  }
  const look = lookAtAgent(agent);
  for (const [code, at, find] of RULES) {
    for (const { path, ...finding } of find(look)) reading.tell(path, { ...finding, code, at });
  }
  return reading.problems;
}

/** Things that are likely not meant. */
type Findings = Iterable<Pick<Finding, "message" | "hint"> & { readonly path: FilePath }>;

/** An agent as the lint rules look at it; all ways begin at the top of the file. */
interface AgentLook {
  readonly agent: AgentFile;
  readonly tree: StepTree;
  readonly graph: AgentGraph;
  readonly places: readonly StepPlace[];
  /** All texts with placeholders; of the constants those that prompts name. */
  readonly texts: readonly StepText[];
  readonly reads: readonly SlotRead[];
  /** Of steps, and of the slots that are filled before them. */
  readonly writes: readonly (SlotTarget & { readonly by: AgentStep | undefined })[];
}

/** Gathers what several rules look at. */
function lookAtAgent(agent: AgentFile): AgentLook {
  const tree = stepTree(agent);
  const places = stepPlaces(agent.root);
  const constants = constantTexts(agent, places);
  const below = <Part extends { readonly path: FilePath }>(path: FilePath, part: Part): Part => ({
    ...part,
    path: [...path, ...part.path],
  });
  return {
    agent,
    tree,
    places,
    graph: new AgentGraph(tree),
    texts: [
      ...constants,
      ...places.flatMap(({ step, path }) => stepTexts(step).map((text) => below(path, text))),
    ],
    reads: [
      ...constants.flatMap(slotsInText),
      ...places.flatMap(({ step, path }) => slotsRead(step).map((read) => below(path, read))),
    ],
    writes: [
      ...agent.preloads.map(({ name }, index) => ({
        slot: { destination: "conversation" as const, name },
        path: ["structure", "slots", index, "name"],
        isSure: false,
        by: undefined,
      })),
      ...places.flatMap(({ step, path }) =>
        slotsWritten(step).map((write) => ({ ...below(path, write), by: step }))
      ),
    ],
  };
}

function constantTexts(
  { constants }: AgentFile,
  places: readonly StepPlace[],
): readonly StepText[] {
  const named = new Set(
    places.flatMap(({ step }) =>
      "prompts" in step
        ? step.prompts.flatMap((prompt) => prompt.role === "constant" ? [prompt.name] : [])
        : []
    ),
  );
  return [...named].flatMap((name) => jsonTexts(constants[name], ["structure", "constants", name]));
}
