import assert from "node:assert/strict";
import {
  AgentError,
  type AnyGadget,
  type AnyPrompt,
  type Clock,
  createAgent,
  defineGadget,
  definePrompt,
  type Dialog,
  type ModelPort,
  type PortReply,
  PromptError,
  systemClock,
  virtualClock,
} from "../mod.ts";
import { type Data, promptCases, promptFields } from "./_prompt_cases.ts";

const CASES = promptCases("loop");

/** A value as it shows in a prompt. */
const SHOWN: AnyPrompt = definePrompt({ template: "{result}" });

/** So long nothing else may go on before a wait is over. */
const QUIET_MS = 25;

function sortedJson(value: Data): string {
  return JSON.stringify(
    value,
    (_key, item) =>
      item !== null && typeof item === "object" && !Array.isArray(item)
        ? Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1)))
        : item,
  );
}

function gadgetOf(name: string, given: Data, abort: () => void): AnyGadget {
  const { input = { type: "object" }, description = name, repeatable, format } = given;
  let runs = 0;
  const run = async (input: unknown, { signal }: { readonly signal: AbortSignal }): Promise<unknown> => {
    runs++;
    if (given.aborts) abort();
    if (given.delay) await systemClock.sleep(QUIET_MS / 5, signal);
    if (given.raises !== undefined) throw new Error(given.raises);
    if (given.failsOnce !== undefined && runs === 1) throw new Error(given.failsOnce);
    if (given.echo) return `${name}(${sortedJson(input)})`;
    if (given.count) return runs;
    return given.returnsUndefined ? undefined : given.returns;
  };
  return defineGadget({
    name,
    description,
    input,
    ...(repeatable && { repeatable }),
    ...(!given.unlinked && { run }),
    ...(format === "compact" && { format: (result: unknown) => SHOWN({ result }) }),
    ...(format === "throws" && {
      format: () => {
        throw new Error("format broke");
      },
    }),
  } as Data) as AnyGadget;
}

/** Runs one case as its README says. */
class Case {
  readonly #input: Data;
  readonly #sleeps: number[] = [];
  readonly #requests: Data[] = [];
  readonly #outcomes: Data[] = [];
  readonly #script: Data[];
  readonly #gadgets = new Map<string, AnyGadget>();
  #controller = new AbortController();
  #dialog: Dialog | undefined;

  constructor(input: Data) {
    this.#input = input;
    this.#script = [...input.script];
    for (const [name, given] of Object.entries(input.gadgets ?? {})) {
      this.#gadgets.set(name, gadgetOf(name, given, () => this.#controller.abort()));
    }
  }

  async run(): Promise<Data> {
    const { agent, system, systemArgs } = this.#input;
    try {
      const made = createAgent({
        ...agent,
        model: agent.model ?? "m",
        system: typeof system === "string" ? system : this.#prompt(system),
        port: this.#port(),
        gadgets: Object.entries(this.#input.catalogue ?? {}).map(([name, given]) =>
          gadgetOf(name, given, () => this.#controller.abort())
        ),
        clock: this.#clock(),
        random: () => 0,
      });
      this.#dialog = made.open(systemArgs);
    } catch (error) {
      this.#failed(error, "open");
      return this.#result();
    }
    for (const turn of this.#input.turns) await this.#turn(turn);
    return this.#result();
  }

  async #turn(turn: Data): Promise<void> {
    let dialog = this.#dialog as Dialog;
    this.#controller = new AbortController();
    try {
      if (turn.fork !== undefined) {
        this.#dialog = dialog = dialog.fork(turn.fork);
        if (turn.text === undefined && turn.prompt === undefined) return;
      }
      if (turn.text !== undefined) dialog.say(turn.text);
      if (turn.prompt !== undefined) dialog.send(this.#linked(turn), turn.args ?? {});
    } catch (error) {
      return this.#failed(error, "send");
    }
    if (turn.call === false) return;
    if (turn.abortBefore) this.#controller.abort();
    try {
      const { signal } = this.#controller;
      const reply = await dialog.call({ signal, ...(turn.modelArgs && { modelArgs: turn.modelArgs }) });
      const { state } = reply;
      this.#outcomes.push({
        parsed: reply.parsed,
        text: reply.text,
        state: state.state,
        modelCalls: state.modelCalls,
        exceptionRetries: messages(state.exceptionRetries),
        llmRecalls: messages(state.llmRecalls),
        interruptSteps: state.interruptSteps,
      });
    } catch (error) {
      this.#failed(error, "call");
    }
    assertValid(dialog);
  }

  #linked(turn: Data): AnyPrompt {
    const prompt = this.#prompt(turn.prompt);
    if (turn.link === undefined) return prompt;
    const links = Object.entries(turn.link).map(([name, result]) => [name, () => result]);
    return prompt.link(Object.fromEntries(links));
  }

  #prompt(given: Data): AnyPrompt {
    const { tools, ...rest } = given;
    return definePrompt({
      ...promptFields(rest),
      ...(tools !== undefined && {
        tools: tools.map((tool: Data) => typeof tool === "string" ? this.#gadgets.get(tool) : tool.catalogue),
      }),
    }) as AnyPrompt;
  }

  #port(): ModelPort {
    return {
      addons: this.#input.portAddons ?? [],
      call: (request) => {
        this.#requests.push({
          prompt: this.#dialog?.topPrompt.path,
          messages: request.messages.map(({ prompt: _prompt, ...message }) => message),
          tools: request.tools,
          format: request.format,
          args: request.args,
        });
        const reply = this.#script.shift();
        if (reply === undefined) throw new Error("the script has no more replies");
        return this.#reply(reply, request.signal);
      },
    };
  }

  #reply(reply: Data, signal: AbortSignal): Promise<PortReply> {
    if (reply.abort) {
      this.#controller.abort();
      return new Promise((_, reject) => signal.aborted ? reject(signal.reason) : undefined);
    }
    if (reply.raises !== undefined) {
      const { status, message, retryAfter, network, abortDuringWait } = reply.raises;
      this.#abortsWait = abortDuringWait === true;
      const error = Object.assign(new Error(message), {
        ...(status !== undefined && { status }),
        ...(retryAfter !== undefined && { retryAfter }),
        ...(network && { code: "ECONNRESET" }),
      });
      return Promise.reject(error);
    }
    if (reply.abortAfter) this.#controller.abort();
    return Promise.resolve(reply);
  }

  #abortsWait = false;

  /** A wait is over as soon as nothing else goes on; the time limits of gadgets are none, since they end first. */
  #clock(): Clock {
    const clock = virtualClock();
    return {
      now: () => clock.now(),
      sleep: async (ms, signal) => {
        if (this.#abortsWait) this.#controller.abort();
        await systemClock.sleep(QUIET_MS, signal);
        this.#sleeps.push(ms / 1000);
      },
    };
  }

  #failed(error: unknown, during: string): void {
    if (!(error instanceof AgentError || error instanceof PromptError)) throw error;
    const { message, code } = error;
    const state = error instanceof AgentError
      ? { state: error.state.state, modelCalls: error.state.modelCalls }
      : {};
    this.#outcomes.push({ error: message, code, during, ...state });
  }

  #result(): Data {
    const { fullTools, showArgs } = this.#input;
    return {
      outcomes: this.#outcomes,
      requests: this.#requests.map(({ prompt, messages, tools, format, args }) => ({
        prompt,
        messages,
        tools: fullTools ? tools : tools.map((tool: Data) => tool.name ?? tool.label ?? tool.type),
        ...(format !== undefined && { format }),
        ...(showArgs && { args }),
      })),
      sleeps: this.#sleeps,
      ...(this.#dialog !== undefined && {
        dialog: this.#dialog.messages.map(({ prompt: _prompt, ...message }) => message),
        topPrompt: this.#dialog.topPrompt.path,
        unusedScript: this.#script.length,
      }),
    };
  }
}

function messages(errors: Readonly<Record<number, readonly Error[]>>): Data {
  return Object.fromEntries(
    Object.entries(errors).map(([step, list]) => [step, list.map(({ message }) => message)]),
  );
}

/** Every call of a tool is answered right behind it. */
function assertValid(dialog: Dialog): void {
  const open: string[] = [];
  for (const { role, toolCalls = [], toolCallId } of dialog.messages) {
    if (role === "tool") assert.equal(toolCallId, open.shift());
    else assert.deepEqual(open, []);
    open.push(...toolCalls.map(({ id }) => id));
  }
  assert.deepEqual(open, []);
}

function assertOutcome(found: Data, expected: Data): void {
  if (expected.error === undefined) {
    const { exceptionRetries, ...others } = expected;
    for (const [step, texts] of Object.entries<string[]>(exceptionRetries)) {
      const told: string[] = found.exceptionRetries[step] ?? [];
      assert.equal(told.length, texts.length);
      texts.forEach((text, i) => assert.ok(told[i]?.startsWith(text), `${told[i]}, expected ${text}`));
    }
    const { exceptionRetries: errors, ...rest } = found;
    assert.deepEqual(Object.keys(errors), Object.keys(exceptionRetries));
    return assert.deepEqual(rest, others);
  }
  const { error, ...rest } = expected;
  assert.ok(found.error?.includes(error), `${JSON.stringify(found)} has not: ${error}`);
  for (const [key, value] of Object.entries(rest)) assert.deepEqual(found[key], value, key);
}

function assertRequest(found: Data, expected: Data): void {
  assert.equal(found.prompt, expected.prompt);
  assert.equal(found.messages.length, expected.messages.length, JSON.stringify(found.messages));
  for (const [i, message] of expected.messages.entries()) {
    const { contentStartsWith, ...rest } = message;
    if (contentStartsWith === undefined) assert.deepEqual(found.messages[i], rest);
    else assert.ok(found.messages[i].content.startsWith(contentStartsWith));
  }
  assert.deepEqual(found.tools, expected.tools);
  for (const key of ["format", "args"]) {
    if (expected[key] !== undefined) assert.deepEqual(found[key], expected[key], key);
  }
}

for (const { name, input, expected } of CASES) {
  Deno.test(`prompt loop: ${name}`, async () => {
    const found = await new Case(input).run();
    assert.equal(found.outcomes.length, expected.outcomes.length, JSON.stringify(found.outcomes));
    expected.outcomes.forEach((outcome: Data, i: number) => assertOutcome(found.outcomes[i], outcome));
    assert.equal(found.requests.length, expected.requests.length, JSON.stringify(found.requests));
    expected.requests.forEach((request: Data, i: number) => assertRequest(found.requests[i], request));
    for (const key of ["sleeps", "dialog", "topPrompt", "unusedScript"]) {
      if (expected[key] !== undefined) assert.deepEqual(found[key], expected[key], key);
    }
  });
}
