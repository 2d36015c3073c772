// A turn that is aborted wherever it can be: it ends with an AgentError, nothing of what was under way is kept, and the dialog goes on.
import assert from "node:assert/strict";
import {
  AgentError,
  type AgentOptions,
  createAgent,
  defineGadget,
  definePrompt,
  fakeModel,
  type GadgetContext,
  type Handler,
  type ModelPart,
  type Parser,
  type RunEvent,
  tags,
} from "../mod.ts";
import { type AgentTalk, agentTalk, calling, lines, portError, type Said } from "./_agent_talk.ts";

const GOOD = "<a>yes</a>";
const never = <T>(): Promise<T> => new Promise<T>(() => {});

/** Aborts the turn: now, or when nothing else goes on. */
interface Abort {
  (): void;
  soon(): void;
}

/** What an abort meets. */
interface Meeting {
  readonly name: string;
  /** Until the abort; the next reply after it is a good one. */
  readonly script: (abort: Abort) => readonly Said[];
  readonly gadget?: (abort: Abort, context: GadgetContext) => unknown;
  readonly handler?: (abort: Abort) => Handler;
  readonly parser?: (abort: Abort) => Parser;
  readonly options?: (abort: Abort) => Partial<AgentOptions>;
  /** What the dialog has by then, behind the user's message. Default: nothing. */
  readonly kept?: readonly string[];
  readonly modelCalls: number;
}

const ROUND = [
  "assistant: [call_1 work]",
  "tool: Return of calling function work with arguments {}:\n---\nworked\n---",
];

/** Hangs once: the next turn goes by. */
function once<Args extends unknown[], First, Later>(
  first: (...args: Args) => First,
  later: (...args: Args) => Later,
) {
  let isFirst = true;
  return (...args: Args): First | Later => {
    const go = isFirst ? first : later;
    isFirst = false;
    return go(...args);
  };
}

const MEETINGS: readonly Meeting[] = [
  { name: "before it begins", script: (abort) => (abort(), []), modelCalls: 0 },
  {
    name: "while the model is asked",
    script: (abort) => [
      ({ signal }) =>
        new Promise((_, reject) => {
          signal.addEventListener("abort", () => reject(signal.reason));
          abort();
        }),
    ],
    modelCalls: 1,
  },
  {
    name: "while a model is asked that never answers",
    script: (abort) => [() => (queueMicrotask(abort), never())],
    modelCalls: 1,
  },
  {
    name: "while a model is asked that answers with an error of its own",
    script: (abort) => [() => (abort(), Promise.reject(portError("down", { status: 500 })))],
    modelCalls: 1,
  },
  { name: "as the answer comes", script: (abort) => [() => (abort(), { text: GOOD })], modelCalls: 1 },
  { name: "as calls come", script: (abort) => [() => (abort(), calling(["work"]))], modelCalls: 1 },
  {
    name: "during a wait for a rate limit",
    script: (abort) => [() => {
      abort.soon();
      return Promise.reject(portError("full", { status: 429, retryAfter: 60 }));
    }],
    modelCalls: 1,
  },
  {
    name: "during a wait for a failed provider",
    script: (abort) => [() => {
      abort.soon();
      return Promise.reject(portError("down", { status: 502 }));
    }],
    modelCalls: 1,
  },
  {
    name: "in a tool that heeds the signal",
    script: () => [calling(["work"])],
    gadget: (abort, { signal }) =>
      new Promise((_, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason));
        abort();
      }),
    modelCalls: 1,
  },
  {
    name: "in a tool that does not",
    script: () => [calling(["work"], ["work", { more: 1 }])],
    gadget: (abort) => (queueMicrotask(abort), never()),
    modelCalls: 1,
  },
  {
    name: "in a tool that ends all the same",
    script: () => [calling(["work"])],
    gadget: (abort) => (abort(), "worked"),
    modelCalls: 1,
  },
  {
    name: "while the arguments of a tool are checked",
    script: (abort) => [() => (abort.soon(), calling(["checked"]))],
    modelCalls: 1,
  },
  {
    name: "by the check of a tool's arguments, which fails because of it",
    script: () => [calling(["rejected"])],
    modelCalls: 1,
  },
  {
    name: "in the second round",
    script: (abort) => [calling(["work"]), () => (abort(), calling(["work", { more: 1 }]))],
    kept: ROUND,
    modelCalls: 2,
  },
  {
    name: "in a handler of an exception that waits",
    script: () => ["no tag"],
    handler: (abort) => ({ onException: once(() => (abort.soon(), never()), () => "again") }),
    modelCalls: 1,
  },
  {
    name: "in a handler of a result that waits",
    script: () => [calling(["work"])],
    handler: (abort) => ({ onInterrupt: once(() => (abort.soon(), never()), () => "result") }),
    modelCalls: 1,
  },
  {
    name: "in a handler of a result that throws because of it",
    script: () => [calling(["work"])],
    handler: (abort) => ({
      onInterrupt: once(() => {
        abort();
        throw new Error("because of it");
      }, () => "result"),
    }),
    modelCalls: 1,
  },
  {
    name: "in the final handler, when all results are there",
    script: () => [calling(["work"])],
    handler: (abort) => ({ onInterruptFinal: once(() => (abort.soon(), never()), () => "the end") }),
    options: () => ({ limits: { interruptSteps: 1 } }),
    modelCalls: 1,
  },
  {
    name: "in a parser that waits",
    script: () => [GOOD],
    parser: (abort) => ({
      parse: once((_text: string) => (abort.soon(), never()), (text) => text),
    }),
    modelCalls: 1,
  },
  {
    name: "in a parser that gives its value all the same",
    script: () => [GOOD],
    parser: (abort) => ({ parse: once((text: string) => (abort(), text), (text) => text) }),
    modelCalls: 1,
  },
  {
    name: "in a parser that throws because of it",
    script: () => [GOOD],
    parser: (abort) => ({
      parse: once((_text: string) => {
        abort();
        throw new Error("because of it");
      }, (text) => text),
    }),
    modelCalls: 1,
  },
  {
    name: "after an answer that broke the contract",
    script: (abort) => ["no tag", () => (abort(), { text: GOOD })],
    modelCalls: 2,
  },
];

for (const { name, kept = [], modelCalls, ...meeting } of MEETINGS) {
  Deno.test(`a turn is aborted ${name}`, async () => {
    const controller = new AbortController();
    const reason = new Error("enough");
    const abort = Object.assign((): void => controller.abort(reason), {
      soon: () => void talk.clock.sleep(1).then(abort),
    });
    const checked = {
      "~standard": { version: 1, vendor: "test", validate: () => never<{ readonly value: unknown }>() },
    } as const;
    const rejected = {
      "~standard": {
        version: 1,
        vendor: "test",
        validate: () => (abort(), Promise.reject<{ readonly value: unknown }>(new Error("because of it"))),
      },
    } as const;
    const gadget = once(
      (context: GadgetContext) => meeting.gadget?.(abort, context) ?? "worked",
      () => "worked",
    );
    const tools = [
      defineGadget({
        name: "work",
        description: "Works.",
        input: { type: "object" },
        run: (_input, context) => gadget(context),
      }),
      defineGadget({ name: "checked", description: "Checks.", input: checked, run: () => 1 }),
      defineGadget({ name: "rejected", description: "Checks.", input: rejected, run: () => 1 }),
    ];
    const prompt = definePrompt({
      path: "task",
      template: "Do it.",
      tools,
      parser: meeting.parser?.(abort) ?? tags({ requiredXmlTags: ["a"] }),
      handler: meeting.handler?.(abort) ?? {},
    });
    const talk: AgentTalk = agentTalk([...meeting.script(abort), GOOD], meeting.options?.(abort) ?? {});
    const error = await talk.fails(talk.dialog.ask(prompt, {}, { signal: controller.signal }));
    assert.deepEqual([error.code, error.message, error.cause], [
      "aborted",
      'agent "a": the call was aborted',
      reason,
    ]);
    assert.equal(error.state.modelCalls, modelCalls);
    const accepted = ["system: S", "user: Do it.", ...kept];
    assert.deepEqual(lines(talk.dialog.messages), accepted);
    assert.equal(talk.dialog.topPrompt.path, "task");
    await new Promise((resolve) => setTimeout(resolve, 2)); // what still ran changes nothing
    assert.deepEqual(lines(talk.dialog.messages), accepted);
    const { text } = await talk.run(talk.dialog.call());
    assert.equal(text, GOOD);
    assert.deepEqual(lines(talk.dialog.messages), [...accepted, `assistant: ${GOOD}`]);
  });
}

Deno.test("a turn is aborted by whoever listens to it, and after its end nothing is", async () => {
  const controller = new AbortController();
  const model = fakeModel(({ signal }) =>
    controller.signal.aborted ? GOOD : (async function* (): AsyncGenerator<ModelPart> {
      yield { type: "text", text: "half" };
      await new Promise((resolve) => signal?.addEventListener("abort", resolve));
      yield { type: "text", text: "whole" };
    })()
  );
  const dialog = createAgent({ name: "a", model, system: "" }).open().say("Hi");
  const told: string[] = [];
  const onEvent = (event: RunEvent): void => {
    told.push(event.type);
    if (event.type === "text-delta") controller.abort(new Error("enough"));
  };
  await assert.rejects(
    dialog.call({ signal: controller.signal, onEvent }),
    (error) => error instanceof AgentError && error.code === "aborted",
  );
  assert.deepEqual(told, ["run-start", "step-start", "text-delta", "step-end", "run-end"]);
  const late = new AbortController();
  const reply = await dialog.call({ signal: late.signal });
  late.abort();
  assert.equal(reply.text, GOOD);
  assert.equal((await dialog.say("More").call()).text, GOOD);
});
