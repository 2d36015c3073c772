// What `createAgent` is given: what is wrong is said at once, and not by the first turn.
import assert from "node:assert/strict";
import {
  type AgentOptions,
  type AnyPrompt,
  createAgent,
  definePrompt,
  fakeModel,
  PromptError,
} from "../mod.ts";

const model = fakeModel([]);
const good = { name: "a", model, system: "S" };

/** The message of the error that an agent of these options is. */
function wrong(options: unknown): string {
  try {
    createAgent(options as AgentOptions);
  } catch (error) {
    assert.ok(error instanceof PromptError, String(error));
    assert.equal(error.code, "define");
    return error.message;
  }
  return assert.fail("an agent was made");
}

const MODEL = 'agent "a": model must be a name such as "provider/model", or a model';
const SYSTEM = 'agent "a": system must be a prompt, or a string that is said as it is';

const WRONG: readonly (readonly [options: unknown, message: string])[] = [
  [undefined, "createAgent takes an object such as { name, model, system }, found undefined"],
  [[good], "createAgent takes an object such as { name, model, system }, found an array"],
  [() => 1, "createAgent takes an object such as { name, model, system }, found a function"],
  [{}, "createAgent: name must be a string that is not empty, found undefined"],
  [{ ...good, name: "" }, "createAgent: name must be a string that is not empty, found empty text"],
  [{ name: "a", system: "S" }, `${MODEL}, found undefined`],
  [{ ...good, model: "" }, `${MODEL}, found empty text`],
  [{ ...good, model: { id: "x/y" } }, `${MODEL}, found an object without stream()`],
  [{ ...good, model: () => model }, `${MODEL}, found a function`],
  [{ name: "a", model }, `${SYSTEM}, found undefined`],
  [{ name: "a", model, systemPrompt: "S" }, `${SYSTEM}, found undefined`],
  [{ ...good, system: null }, `${SYSTEM}, found null`],
  [{ ...good, system: { template: "S" } }, `${SYSTEM}, found an object: definePrompt makes a prompt of it`],
  [{ ...good, system: () => "S" }, `${SYSTEM}, found a function`],
  [{ ...good, limits: 3 }, 'agent "a": limits must be an object such as { exceptionRetries: 3 }, found 3'],
  [
    { ...good, limits: { exceptionRetry: 3 } },
    'agent "a": unknown limit "exceptionRetry". Did you mean "exceptionRetries"?',
  ],
  [
    { ...good, modelArgs: "hot" },
    'agent "a": modelArgs must be an object such as { temperature: 0 }, found "hot"',
  ],
  [
    { ...good, model: "m", port: {} },
    'agent "a": port must be an object with a function call(request), found an object without call()',
  ],
  [
    { ...good, port: { call: () => ({ text: "x" }) } },
    'agent "a": give either a model or a port: beside a port, model is the name that the port is asked for, found a model that would be asked itself',
  ],
  [
    { ...good, model: "m", port: 1 },
    'agent "a": port must be an object with a function call(request), found 1',
  ],
  [{ ...good, gadgets: {} }, 'agent "a": gadgets must be a list of gadgets, found an object'],
  [
    { ...good, gadgets: ["ReadFile"] },
    'agent "a": gadgets[0] must be a gadget, as defineGadget makes it, found "ReadFile"',
  ],
];

Deno.test("createAgent: what is wrong is said at once", () => {
  for (const [options, message] of WRONG) assert.equal(wrong(options), message);
});

Deno.test("createAgent: what is left out or undefined has its default", () => {
  const agent = createAgent(
    {
      ...good,
      limits: undefined,
      modelArgs: undefined,
      port: undefined,
      gadgets: undefined,
    } as unknown as AgentOptions,
  );
  assert.deepEqual(agent.open().messages.map(({ content }) => content), ["S"]);
  const prompted = createAgent({
    name: "b",
    model: "some/model",
    system: definePrompt({ template: "Be {how}." }),
  });
  assert.deepEqual(prompted.open({ how: "brief" }).messages.map(({ content }) => content), ["Be brief."]);
  assert.throws(() => prompted.open(), { name: "PromptError", message: "missing variables: how" });
});

Deno.test("a dialog is told what it can be told, and anything else is said at once", () => {
  const dialog = createAgent(good).open();
  const said = (text: unknown) => () => dialog.say(text as string);
  assert.throws(said(123), { name: "PromptError", message: 'agent "a": say takes text, found 123' });
  assert.throws(said({ role: "user" }), { message: 'agent "a": say takes text, found an object' });
  const sent = (prompt: unknown) => () => dialog.send(prompt as AnyPrompt);
  assert.throws(sent(["p"]), { message: 'agent "a": send takes a prompt, found an array' });
  assert.throws(sent(undefined), { message: 'agent "a": send takes a prompt, found undefined' });
  assert.equal(dialog.messages.length, 1, "nothing of it was said");
});
