// One step that is neither a chain nor a combined one: what it works with, and who does it.
import { extractedValue, extractionForm, extractionNames } from "../../conversation/extraction.ts";
import { fillJson, fillText, lookUpIn, slotText } from "../../conversation/fill_template.ts";
import { memoryMessage, selectMemory } from "../../conversation/message_log.ts";
import { slotKey, slotProblem } from "../../conversation/slots.ts";
import type { StepOutcome, StepTree } from "../../conversation/step_tree.ts";
import { readVerdicts, type Verdict, verdictForm } from "../../conversation/verdicts.ts";
import {
  isRecord,
  type Json,
  type JsonObject,
  type Passage,
  PermissionRefused,
  toldMs,
} from "../../core/core.ts";
import type { AgentStep, ConversationGoal, SlotPath, StepOf } from "../../parse/agent/agent.ts";
import type { Branch } from "./branch.ts";
import { performGadget } from "./gadget.ts";
import { performApiCall, performSseCall } from "./http.ts";
import { askJudge, formText, performLlmStep } from "./llm.ts";
import { type ConversationMeans, ConversationStepError, type StepWork } from "./work.ts";
import { EffectError, performEffect } from "../effect.ts";
import type { Run } from "../run.ts";
import { objectForm, textForm } from "../turn/answer_contract.ts";

/** What all steps of a turn have in common. */
export interface LeafOptions {
  readonly run: Run;
  readonly means: ConversationMeans;
  readonly tree: StepTree;
  readonly constants: JsonObject;
  /** How often each step was come to; counted here. */
  readonly visits: Map<string, number>;
}

/** Does what a leaf does, as a step that is told. @throws {Error} */
export async function performLeaf(
  step: AgentStep,
  branch: Branch,
  options: LeafOptions,
): Promise<StepOutcome> {
  const { run } = options;
  const key = visitKey(step, options);
  const begunAt = run.clock.now();
  const end = (how: { readonly outcome: Json } | { readonly error: { readonly message: string } }): void =>
    run.emit({ type: "step-end", key, ms: toldMs(run.clock.now() - begunAt), ...how });
  run.emit({ type: "step-start", key, kind: "step", name: step.id, attempt: 1 });
  try {
    const outcome = await perform(workOf(step, branch, { ...options, key }));
    end({ outcome: outcome.kind === "flow" ? { ...outcome.flow } : null });
    return outcome;
  } catch (error) {
    if (error instanceof Error && !run.signal.aborted && !run.hasRefused) {
      end({ error: { message: error.message } });
    }
    throw error;
  }
}

/** `main/form/ask#4`: the place of the step and the visit, from the second one on. */
function visitKey({ id }: AgentStep, { tree, visits }: LeafOptions): string {
  const visit = (visits.get(id) ?? 0) + 1;
  visits.set(id, visit);
  const place = tree.path(id).map((step) => keyPart(step.id)).join("/");
  return visit === 1 ? place : `${place}#${visit}`;
}

/** An id may be any text: what keys are put together with is none of it. */
function keyPart(id: string): string {
  return id.replaceAll(/[%/#]/g, encodeURIComponent);
}

function workOf<Step extends AgentStep>(
  step: Step,
  branch: Branch,
  { run, means, tree, constants, key }: LeafOptions & { readonly key: string },
): StepWork<Step> {
  const { id } = step;
  const { slots, outlet } = branch;
  const lookUp = lookUpIn(slots, constants);
  return {
    run,
    means,
    step,
    key,
    constants,
    signal: run.signal,
    fill: (text, as) => fillText(text, lookUp, as === "url" ? urlPart : undefined),
    fillValue: (value) => fillJson(value, lookUp),
    slot: (path) => slots.get(path),
    setSlot(path, value) {
      const problem = slotProblem(value);
      if (problem !== undefined) {
        throw new ConversationStepError(
          id,
          `slot "${slotKey(path)}" cannot hold the value: it has ${problem}`,
        );
      }
      branch.write({ step: id, path, value });
    },
    memory(selections, limit) {
      const within = (wanted: string) =>
        tree.find(wanted) === undefined ? undefined : tree.descendants(wanted);
      return selectMemory(branch.log, { selections, limit, step: id, within }).map(memoryMessage);
    },
    delta: (text) => text === "" ? undefined : outlet.push({ type: "text-delta", step: id, text }),
    say: (text) => branch.say(id, text),
    discard() {},
    warn: (text) => outlet.push({ type: "warning", text: `step "${id}": ${text}` }),
  };
}

/** Who does what a step says. Chains and combined steps are walked through. */
const PERFORMERS: {
  readonly [Kind in Exclude<AgentStep["kind"], "chain" | "combined">]: (
    work: StepWork<StepOf<Kind>>,
  ) => StepOutcome | Promise<StepOutcome>;
} = {
  message: performMessage,
  "set-slot": performSetSlot,
  counter: performCounter,
  flow: ({ step }) => ({ kind: "flow", flow: step.flow }),
  llm: performLlmStep,
  validator: performValidator,
  extractor: performExtractor,
  summarizer: performSummarizer,
  "api-call": performApiCall,
  "sse-call": performSseCall,
  retriever: performRetriever,
  gadget: performGadget,
  run: performRunFile,
};

async function perform(work: StepWork<AgentStep>): Promise<StepOutcome> {
  const { id, kind } = work.step;
  if (kind === "chain" || kind === "combined") {
    throw new Error(`step "${id}" is walked through, not performed`);
  }
  return await PERFORMERS[kind](work as StepWork<never>); // each row takes the steps of its kind
}

function performMessage({ step, fill, say }: StepWork<StepOf<"message">>): StepOutcome {
  const text = fill(step.message);
  if (text !== "") say(text);
  return { kind: "next", isHeld: step.hold };
}

/** Half a character cannot stand in a URL. */
function urlPart(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}

/** All values are computed first. */
function performSetSlot({ step, fillValue, setSlot }: StepWork<StepOf<"set-slot">>): StepOutcome {
  const values = step.values.map(({ path, value }) => ({ path, value: fillValue(value) }));
  for (const { path, value } of values) setSlot(path, value);
  return { kind: "next" };
}

const WHOLE_NUMBER = /^\s*[+-]?\d+\s*$/;

function performCounter({ step, slot, setSlot }: StepWork<StepOf<"counter">>): StepOutcome {
  const found = slot(step.slot);
  const isText = typeof found === "string" && WHOLE_NUMBER.test(found);
  const count = found === undefined || found === null ? 0 : isText ? Number(found) : found;
  if (typeof count !== "number" || !Number.isSafeInteger(count)) {
    const shown = JSON.stringify(slotText(found).slice(0, 60));
    throw new ConversationStepError(
      step.id,
      `slot "${slotKey(step.slot)}" holds ${shown}, not a whole number`,
    );
  }
  setSlot(step.slot, count + 1);
  return { kind: "next" };
}

/** Runs a document or a prompt as a part of the run; what it returns goes to the slot (conversations.md 3). @throws what is wrong with it */
async function performRunFile(work: StepWork<StepOf<"run">>): Promise<StepOutcome> {
  const { run, means, step, key, signal } = work;
  const input = step.input === undefined ? {} : { input: work.fillValue(step.input) };
  const value = await means.runFile(step.file, { run, keyPrefix: `${key}/`, signal, ...input });
  if (step.target !== undefined) work.setSlot(step.target, value);
  return { kind: "next" };
}

const SUMMARY: SlotPath = { destination: "conversation", name: "summary" };

/** Lets a model summarize the conversation into the slot `summary`. @throws {ConversationStepError} */
async function performSummarizer(work: StepWork<StepOf<"summarizer">>): Promise<StepOutcome> {
  const { type, skipPrefix } = work.step;
  const summary = await askJudge(work, {
    ...(skipPrefix ? {} : { request: "Write the summary of the conversation above." }),
    form: textForm,
  });
  const before = type === "append" ? slotText(work.slot(SUMMARY)) : "";
  work.setSlot(SUMMARY, before === "" ? summary : `${before}\n${summary}`);
  return { kind: "next" };
}

/** Lets a model find values; what is found is kept, also where other values are missing. @throws {ConversationStepError} */
async function performExtractor(work: StepWork<StepOf<"extractor">>): Promise<StepOutcome> {
  const { values, success, fail } = work.step;
  const schema = extractionForm(values, (text) => work.fill(text));
  const answer = await askJudge(work, {
    request: `Give the values that were said in the conversation above.\n\n${formText(schema)}`,
    form: objectForm(schema, (found) => ({ value: found })),
  });
  const names = extractionNames(values);
  let missing = 0;
  for (const [index, value] of values.entries()) {
    const name = names[index] ?? "";
    const read = extractedValue(value, Object.hasOwn(answer, name) ? answer[name] : undefined);
    if (typeof read === "string") missing++;
    else work.setSlot(value.target, read.found);
  }
  return { kind: "flow", flow: missing === 0 ? success : fail };
}

type Work = StepWork<StepOf<"validator">>;

/** Lets a model judge the goals; a goal without a verdict is an error and never a silent fail. @throws {ConversationStepError} */
async function performValidator(work: Work): Promise<StepOutcome> {
  const { goals, type, success, fail } = work.step;
  const schema = verdictForm(goals);
  const verdicts = await askJudge(work, {
    request: requestOf(work, formText(schema)),
    form: objectForm(schema, (answer) => readVerdicts(goals, answer)),
  });
  const decisions = goals.map((goal) => [goal, verdictOf(work, verdicts.get(goal.name), goal)] as const);
  for (const [{ name }, { decision, explanation }] of decisions) {
    work.setSlot({ destination: "conversation", name }, decision);
    if (explanation === undefined) continue;
    work.setSlot({ destination: "conversation", name: `${name}_explanation` }, explanation);
  }
  const reached = decisions.filter(([, { decision }]) => decision).length;
  const isSuccess = type === "all" ? reached === goals.length : reached > 0;
  return { kind: "flow", flow: isSuccess ? success : fail };
}

function verdictOf({ step }: Work, verdict: Verdict | undefined, { name }: ConversationGoal): Verdict {
  if (verdict !== undefined) return verdict;
  throw new ConversationStepError(step.id, `the model gave no verdict for goal "${name}"`);
}

function requestOf(work: Work, form: string): string {
  const goals = work.step.goals.map(({ name, goal, examples }) => {
    const lines = examples.map((example) => `\n  - ${work.fill(example)}`);
    return `- ${name}: ${work.fill(goal)}${lines.length === 0 ? "" : `\n  Examples:${lines.join("")}`}`;
  });
  return `Judge the conversation above by these goals, each for itself:\n${goals.join("\n")}\n\n${form}`;
}

type RetrieverWork = StepWork<StepOf<"retriever">>;

/**
 * Looks in the collection for what a slot asks, a text or a list of texts, and puts the passages that fit into another (conversations.md
 * 2.8). What fails is tried once more.
 *
 * @throws {ConversationStepError} for a slot without a question, without a collection, and for one that cannot be searched
 */
async function performRetriever(work: RetrieverWork): Promise<StepOutcome> {
  const found = await foundBy(work, queriesOf(work));
  work.setSlot(work.step.target, sourcesText(found));
  return { kind: "next" };
}

function queriesOf({ step, slot }: RetrieverWork): readonly string[] {
  const asked = slot(step.query) ?? [];
  const queries = Array.isArray(asked) ? asked.map(queryText) : [queryText(asked)];
  const name = JSON.stringify(slotKey(step.query));
  if (queries.includes(undefined)) {
    throw new ConversationStepError(step.id, `query slot ${name} must hold text or a list of texts`);
  }
  const filled = queries.flatMap((query) => query === undefined || query.trim() === "" ? [] : [query]);
  if (filled.length === 0) throw new ConversationStepError(step.id, `query slot ${name} is empty`);
  return filled;
}

/** Undefined for what is no text and cannot be taken as one. */
function queryText(value: Json): string | undefined {
  if (value === null) return "";
  return typeof value === "object" ? undefined : String(value);
}

/** A run that is replayed needs no collection. */
async function foundBy(work: RetrieverWork, queries: readonly string[]): Promise<Json> {
  const { run, key, step: { id, limit, secondary }, signal } = work;
  const search = () => passagesFor(work, queries);
  try {
    return await performEffect(run, {
      key: `${key}/retrieve`,
      kind: "read",
      name: "collection",
      input: { queries, limit, secondary },
      isIdempotent: true,
      perform: () => search().catch((error) => isLasting(error, signal) ? Promise.reject(error) : search()),
    });
  } catch (error) {
    if (!(error instanceof EffectError) || signal.aborted) throw error;
    throw new ConversationStepError(id, error.message, { cause: error });
  }
}

async function passagesFor(
  { means, step, signal }: RetrieverWork,
  queries: readonly string[],
): Promise<Json> {
  const { limit, secondary } = step;
  const { collection } = means;
  if (collection === undefined) throw new Error("no document collection is configured");
  const found: Passage[] = [];
  for (const query of queries) found.push(...await collection.search(query, { limit, secondary, signal }));
  return found.map(({ name, link, document, text, score }) => ({
    name,
    document,
    text,
    score,
    ...(link === undefined ? {} : { link }),
  }));
}

/** It will not pass. */
function isLasting(error: unknown, signal: AbortSignal): boolean {
  return signal.aborted || error instanceof PermissionRefused;
}

/** What several questions have found is said once. */
function sourcesText(found: Json): string {
  const texts = Array.isArray(found) ? found.flatMap(sourceText) : [];
  return [...new Map(texts).values()].join("\n\n");
}

function sourceText(passage: Json): readonly (readonly [string, string])[] {
  if (!isRecord(passage)) return [];
  const text = String(passage.text);
  return [[text, `**Source: ${passage.name}**\n${text}`]];
}
