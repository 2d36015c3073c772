// What a program asks is looked at before its run begins.
import assert from "node:assert/strict";
import { definePrompt, fakeModel, PromptError, runPrompt, type RunPromptOptions } from "../mod.ts";

const greet = definePrompt({ path: "greet", template: "Hello {name}, {greeting}" });
const system = definePrompt({ path: "bot/system", template: "Today is {date}" });
const plain = definePrompt({ path: "plain", template: "x", renderer: { render: () => "x" } });
const strict = definePrompt({
  path: "strict",
  template: "x",
  renderer: {
    render: () => {
      throw new Error("no luck");
    },
  },
});

interface WantedPromptRun extends Omit<Partial<RunPromptOptions>, "prompt" | "args" | "agent"> {
  readonly prompt: unknown;
  readonly args?: unknown;
  readonly agent?: { readonly system: unknown };
}

/** Nothing is asked before the events are read. */
function start({ agent, ...wanted }: WantedPromptRun): void {
  runPrompt({
    model: fakeModel([]),
    ...wanted,
    ...(agent !== undefined && { agent: { name: "bot", ...agent } }),
  } as RunPromptOptions);
}

function refused(wanted: WantedPromptRun): readonly [string, ...string[]] {
  try {
    start(wanted);
  } catch (error) {
    assert.ok(error instanceof PromptError, String(error));
    return [error.code, ...error.message.split("\n")];
  }
  return assert.fail("it can be asked");
}

Deno.test("a prompt that can be rendered is let through, whatever else the values hold", () => {
  const args = { name: "A", greeting: "B" };
  start({ prompt: greet, args });
  start({ prompt: greet, args: { ...args, more: 1 }, agent: { system: "{literal}" } });
  start({ prompt: greet, args, agent: { system }, systemArgs: { date: 1 } });
  start({ prompt: greet, args, agent: { system }, say: "hi" });
  start({ prompt: plain, args: { any: 1 } });
  start({ prompt: plain });
});

Deno.test("everything that is wrong with the values is told at once, in the words of the command line", () => {
  assert.deepEqual(refused({ prompt: greet, args: { nam: "A", x: 1 }, agent: { system } }), [
    "render",
    'prompt "greet" has no variable "nam". Did you mean "name"? It has: name, greeting',
    'prompt "greet" has no variable "x". It has: name, greeting',
    'prompt "greet": missing variables: name, greeting',
    'prompt "bot/system": missing variables: date',
  ]);
  assert.deepEqual(refused({ prompt: greet }), [
    "render",
    'prompt "greet": missing variables: name, greeting',
  ]);
  assert.deepEqual(refused({ prompt: greet, args: null }), [
    "render",
    'prompt "greet": arguments must be an object',
  ]);
  assert.deepEqual(refused({ prompt: greet, args: { name: () => 1, greeting: 1 } }), [
    "render",
    'prompt "greet": {name}: a function cannot be rendered',
  ]);
  assert.deepEqual(refused({ prompt: strict, args: { any: 1 } }), [
    "render",
    'prompt "strict": the renderer failed: no luck',
  ]);
  const bare = definePrompt({ path: "bare", template: "{constructor}" });
  assert.deepEqual(refused({ prompt: bare, args: { toString: 1 } }), [
    "render",
    'prompt "bare" has no variable "toString". It has: constructor',
    'prompt "bare": missing variables: constructor',
  ]);
});

Deno.test("what is no prompt is told as such, with what was found", () => {
  assert.deepEqual(refused({ prompt: "research/task", args: {} }), [
    "define",
    'runPrompt: prompt must be a prompt, as definePrompt makes it, found "research/task": registry.get("research/task") finds one by its path',
  ]);
  assert.deepEqual(refused({ prompt: undefined }), [
    "define",
    "runPrompt: prompt must be a prompt, as definePrompt makes it, found undefined",
  ]);
  assert.deepEqual(refused({ prompt: { template: "x" } }), [
    "define",
    "runPrompt: prompt must be a prompt, as definePrompt makes it, found an object",
  ]);
});
