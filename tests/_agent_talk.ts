/**
 * An agent whose model is a list of replies, on a clock that takes no time.
 *
 * ```ts
 * const talk = agentTalk([{ text: "bad" }, { text: "<a>good</a>" }]);
 * const { parsed } = await talk.run(talk.dialog.ask(prompt, {}));
 * talk.requests, talk.sleeps
 * ```
 *
 * @module
 */
import assert from "node:assert/strict";
import {
  type Agent,
  AgentError,
  type AgentOptions,
  type Clock,
  createAgent,
  definePrompt,
  type Dialog,
  type DialogMessage,
  fakeModel,
  type ModelPort,
  type PortReply,
  type PortRequest,
  virtualClock,
} from "../mod.ts";

// What is loaded when it is first needed is loaded before a clock of a test could wait for it.
await createAgent({ name: "first", model: fakeModel(["{}"]), system: "", gadgets: [] }).open()
  .ask(definePrompt({ template: "Hi", format: { type: "object" } }));

/** What the model says: a text, a whole reply, what goes wrong, or what is done to find it out. */
export type Said = string | PortReply | Error | ((request: PortRequest) => PortReply | Promise<PortReply>);

/** An agent under test, and what it did. */
export interface AgentTalk {
  readonly agent: Agent;
  readonly dialog: Dialog;
  /** What the model was asked, as it was then. */
  readonly requests: readonly (Omit<PortRequest, "signal"> & { readonly signal: AbortSignal })[];
  /** Seconds that were waited. */
  readonly sleeps: readonly number[];
  readonly clock: Clock;
  /** Lets time pass until the work is done. */
  run<T>(work: Promise<T>): Promise<T>;
  /** The error of a turn; the dialog has to be valid behind it. */
  fails(work: Promise<unknown>): Promise<AgentError>;
}

/** Makes the agent, and opens a dialog with it. @param options `addons`: those that the model knows */
export function agentTalk(
  script: readonly Said[],
  { addons, ...options }: Partial<AgentOptions> & Pick<ModelPort, "addons"> = {},
): AgentTalk {
  const clock = virtualClock();
  const requests: PortRequest[] = [];
  const sleeps: number[] = [];
  const counted: Clock = {
    now: () => clock.now(),
    async sleep(ms, signal) {
      await clock.sleep(ms, signal);
      sleeps.push(ms / 1000);
    },
  };
  const port: ModelPort = {
    addons,
    call(request) {
      const said = script[requests.length];
      requests.push({ ...request, messages: structuredClone(request.messages) });
      if (said === undefined) return Promise.reject(new Error("the script has no more replies"));
      if (typeof said === "string") return Promise.resolve({ text: said });
      if (said instanceof Error) return Promise.reject(said);
      return typeof said === "function" ? Promise.resolve(said(request)) : Promise.resolve(said);
    },
  };
  const agent = createAgent({
    name: "a",
    model: "m",
    system: "S",
    port,
    gadgets: [],
    clock: counted,
    random: () => 0,
    ...options,
  });
  const dialog = agent.open();
  const run = async <T>(work: Promise<T>): Promise<T> => {
    const done = await clock.run(work.then((value) => ({ value }), (error: unknown) => ({ error })));
    assertValid(dialog.messages);
    if ("error" in done) throw done.error;
    return done.value;
  };
  return {
    agent,
    dialog,
    requests,
    sleeps,
    clock,
    run,
    async fails(work) {
      const error = await run(work).then(() => assert.fail("it gave an answer"), (error: unknown) => error);
      assert.ok(error instanceof AgentError, Deno.inspect(error));
      assert.equal(error.state.state, "failure");
      return error;
    },
  };
}

/** An error as a port throws it. */
export function portError(message: string, fields: Readonly<Record<string, unknown>> = {}): Error {
  return Object.assign(new Error(message), fields);
}

/** A reply that calls tools: name and arguments of each. */
export function calling(...calls: readonly (readonly [string, (string | object)?, string?])[]): PortReply {
  return {
    toolCalls: calls.map(([name, given = {}, id]) => ({
      name,
      arguments: given,
      ...(id !== undefined && { id }),
    })),
  };
}

/** The messages without where they are from. */
export function plain(messages: readonly DialogMessage[]): readonly DialogMessage[] {
  return messages.map(({ prompt: _prompt, ...message }) => message);
}

/** Role and text of each message; an answer that calls tools names them. */
export function lines(messages: readonly DialogMessage[]): readonly string[] {
  return messages.map(({ role, content, toolCalls = [] }) =>
    `${role}: ${content}${toolCalls.map(({ id, name }) => `[${id} ${name}]`).join("")}`
  );
}

/** Every call of a tool is answered right behind it, and no id stands for two calls of one answer. */
export function assertValid(messages: readonly DialogMessage[]): void {
  const open: string[] = [];
  for (const { role, toolCalls = [], toolCallId } of messages) {
    if (role === "tool") assert.equal(toolCallId, open.shift());
    else assert.deepEqual(open, [], "a call is not answered");
    assert.equal(new Set(toolCalls.map(({ id }) => id)).size, toolCalls.length, "two calls of one id");
    open.push(...toolCalls.map(({ id }) => id));
  }
  assert.deepEqual(open, [], "a call is not answered");
}
