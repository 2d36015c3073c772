// A prompt that is run with what a scripted model answers, for tests of its events and of their replay.

import assert from "node:assert/strict";
import {
  type AnyGadget,
  defineGadget,
  definePrompt,
  type Handler,
  ModelError,
  type ModelPart,
  type RunEvent,
  runPrompt,
  type RunPromptOptions,
  tags,
} from "../mod.ts";
import { type Script, scriptedModel } from "./_scripted_model.ts";

/** An answer that keeps to the contract. */
export const GOOD = "<a>yes</a>";

/** A call of a model's own. */
export const call = (name: string, input: object = {}, id = ""): ModelPart => ({
  type: "call",
  call: { id, name, arguments: JSON.stringify(input) },
});

/** What a scripted model may throw. */
export const failure = (message: string, code: ModelError["code"], more: object = {}): ModelError =>
  new ModelError(message, { code, ...more });

/** One that echoes and one that fails. */
export const GADGETS: readonly AnyGadget[] = [
  defineGadget({
    name: "echo",
    description: "Echo.",
    input: { type: "object", properties: { text: {} } },
    run: (input, { log }) => (log("half"), (input as { text?: unknown }).text ?? null),
  }),
  defineGadget({ name: "fails", description: "Fails.", run: () => Promise.reject(new Error("no luck")) }),
];

/** They are offered, and must not be run. */
export const STILL: readonly AnyGadget[] = GADGETS.map(({ name, description = "", input = {} }) =>
  defineGadget({
    name,
    description,
    input: input as { readonly type: "object" },
    run: () => assert.fail(`${name} was run`),
  })
);

/** How a prompt is run here. */
export interface Given extends Partial<RunPromptOptions> {
  readonly scripts: readonly Script[];
  readonly tools?: never;
  readonly gadgets?: readonly AnyGadget[];
  readonly handler?: Handler;
}

/** Runs a prompt that wants `<a>`. */
export function startPrompt(
  { scripts, gadgets = GADGETS, handler = {}, ...options }: Given,
): AsyncIterable<RunEvent> {
  const prompt = definePrompt({
    path: "task",
    template: "Do {what}.",
    parser: tags({ requiredXmlTags: ["a"] }),
    tools: gadgets,
    handler,
  });
  return runPrompt({
    prompt,
    args: { what: "it" },
    model: scriptedModel(scripts),
    random: () => 0,
    ...options,
  });
}

/** How it ended. */
export function endOf(events: readonly RunEvent[]): RunEvent & { readonly type: "run-end" } {
  const end = events.at(-1);
  return end?.type === "run-end" ? end : assert.fail("no run-end");
}
