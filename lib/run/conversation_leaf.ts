// One step that is neither a chain nor a combined one: what it works with, and who does it.

import { fillJson, fillText, slotText } from "../conversation/fill_template.ts";
import { memoryMessage, selectMemory } from "../conversation/select_memory.ts";
import { slotProblem } from "../conversation/slot_problem.ts";
import { slotKey } from "../conversation/slots.ts";
import type { StepOutcome } from "../conversation/step_outcome.ts";
import type { StepTree } from "../conversation/step_tree.ts";
import { toldMs } from "../core/clock.ts";
import type { Json, JsonObject } from "../core/json.ts";
import type { AgentStep, StepOf } from "../parse/agent_file.ts";
import type { Branch } from "./conversation_branch.ts";
import { performExtractor } from "./conversation_extractor.ts";
import { performGadget } from "./conversation_gadget.ts";
import { performApiCall, performSseCall } from "./conversation_http.ts";
import { performLlmStep } from "./conversation_llm.ts";
import { performRetriever } from "./conversation_retriever.ts";
import { performRunFile } from "./conversation_run_step.ts";
import { performSummarizer } from "./conversation_summarizer.ts";
import { performValidator } from "./conversation_validator.ts";
import { ConversationStepError } from "./conversation_work.ts";
import type { ConversationMeans, StepWork } from "./conversation_work.ts";
import type { Run } from "./run.ts";
import { lookUpIn } from "./slot_look_up.ts";

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

async function perform(work: StepWork<AgentStep>): Promise<StepOutcome> {
  const { step } = work;
  switch (step.kind) {
    case "message":
      return performMessage({ ...work, step });
    case "set-slot":
      return performSetSlot({ ...work, step });
    case "counter":
      return performCounter({ ...work, step });
    case "flow":
      return { kind: "flow", flow: step.flow };
    case "llm":
      return await performLlmStep({ ...work, step });
    case "validator":
      return await performValidator({ ...work, step });
    case "extractor":
      return await performExtractor({ ...work, step });
    case "summarizer":
      return await performSummarizer({ ...work, step });
    case "api-call":
      return await performApiCall({ ...work, step });
    case "sse-call":
      return await performSseCall({ ...work, step });
    case "retriever":
      return await performRetriever({ ...work, step });
    case "gadget":
      return await performGadget({ ...work, step });
    case "run":
      return await performRunFile({ ...work, step });
    case "chain":
    case "combined":
      throw new Error(`step "${step.id}" is walked through, not performed`);
    default:
      return step satisfies never;
  }
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
