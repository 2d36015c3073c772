// One turn of a conversation (conversations.md 2.2): what was said, the steps up to the next hold, and what is kept behind it. Effects are
// steps of the run; everything else follows from them and from where the turn began, so that a turn whose process died is made again.
import { GrowingLog, type Messages } from "../../conversation/message_log.ts";
import { type ConversationState, heldSteps, type Position } from "../../conversation/position.ts";
import {
  type ConversationScope,
  ConversationSlots,
  type SlotValue,
  type SlotValues,
} from "../../conversation/slots.ts";
import { stepTree } from "../../conversation/step_tree.ts";
import {
  type ConversationSave,
  type Json,
  type JsonObject,
  type MediaPart,
  ModelError,
  PermissionRefused,
  type RunEvent,
  splitWords,
  toJson,
  turnKey,
  type Words,
  wordsWith,
} from "../../core/core.ts";
import type { AgentFile } from "../../parse/agent/agent.ts";
import { Outlet, RootBranch, type Told } from "./branch.ts";
import { performLeaf } from "./leaf.ts";
import { conversationWalk, type Entry, StepCount, StepFailure } from "./walk.ts";
import type { ConversationMeans } from "./work.ts";
import { EffectError, takeIn } from "../effect.ts";
import type { Run, RunEnd, RunOptions } from "../run.ts";
import { endingRun, modelReason } from "../work_run.ts";

/** A turn to be made. */
export interface ConversationTurnOptions extends RunOptions {
  readonly agent: AgentFile;
  /** The agent file of this hash, for a turn that another one began. @throws {Error} when it was not kept */
  storedAgent(hash: string): Promise<AgentFile>;
  readonly means: ConversationMeans;
  readonly scope: ConversationScope;
  /** From 1: of this conversation. */
  readonly turn: number;
  /** Where it was behind the turn before; undefined at the start. */
  readonly state: ConversationState | undefined;
  /** What was said before. */
  readonly log: Messages;
  /** What begins it. Absent: it has begun already, in a process that died. */
  readonly start?: TurnStart;
  /** Steps that may be made without waiting for the person. Default 250. */
  readonly maxSteps?: number;
  /** Takes what the turn leaves behind, before its run ends. */
  save(saved: ConversationSave, state: ConversationState): void;
}

/** Makes a turn and tells what happens; `run-end` is `held`, `completed` or `failed`, and its value is what was said, as text. */
export function runConversationTurn(options: ConversationTurnOptions): AsyncIterable<RunEvent> {
  const { agent } = options;
  return endingRun("conversation", { ...options, file: agent.file }, async (run) => {
    const start = await beginTurn(run, options);
    const isSame = start.hash === agent.hash;
    const turn = isSame ? options : { ...options, agent: await options.storedAgent(start.hash) };
    return await makeTurn(run, turn, start);
  });
}

/** What began the turn is kept before anything comes of it. */
async function beginTurn(run: Run, { turn, start }: ConversationTurnOptions): Promise<TurnStart> {
  const kept = await takeIn(run, {
    key: turnKey(turn),
    kind: "ask",
    name: "user",
    signal: new AbortController().signal, // what was said is kept, also when the turn is interrupted at once
    perform() {
      if (start !== undefined) return Promise.resolve(toJson(start));
      const message = `Turn ${turn} of this conversation was not kept: say it again`;
      throw new EffectError({ message }, { isKept: false });
    },
  });
  return readTurnStart(kept);
}

async function makeTurn(run: Run, options: ConversationTurnOptions, start: TurnStart): Promise<RunEnd> {
  /** What the person has said and no hold has taken yet. */
  let unheard: Words | undefined;
  const { agent, state: before, log, maxSteps, means } = options;
  const slots = new ConversationSlots(slotsAt(before, start));
  for (const { path, value } of start.given ?? []) slots.set(path, value);
  const visits = new Map(Object.entries(before?.visits ?? {}));
  const grown = new GrowingLog(log);
  const outlet = new Outlet(tell, { isOpen: true });
  const branch = new RootBranch(slots, { outlet, log: grown });
  const count = new StepCount(maxSteps);
  const tree = stepTree(agent);
  const leaf = { run, means, tree, constants: agent.constants, visits };
  const walk = conversationWalk({
    tree,
    constants: agent.constants,
    count,
    assertGoing: () => {
      run.signal.throwIfAborted();
      assertCounts();
    },
    perform: (step, branch) => performLeaf(step, branch, leaf),
  });

  /** Up to a hold that nothing answers; undefined at the end. */
  async function steps(first: Entry): Promise<Position | undefined> {
    let entry = first;
    while (true) {
      const walked = await walk(agent.root, entry, branch);
      if (walked.kind !== "held") return undefined;
      const { position } = walked;
      if (unheard === undefined) return position;
      hear(unheard, heldSteps(position));
      unheard = undefined;
      count.reset();
      entry = { kind: "resume", position };
    }
  }

  /** What was said at the start waits for the first hold; later it answers where the conversation stands. */
  function entry(): Entry {
    const { text, media } = start;
    const words = text === undefined ? undefined : wordsWith(text, media);
    const { position, waiting } = before ?? {};
    unheard = waiting;
    if (position === undefined) {
      unheard = words;
      return { kind: "start" };
    }
    if (words !== undefined) {
      hear(words, position.at === "failed" ? [position.step] : heldSteps(position));
    }
    return { kind: "resume", position };
  }

  function hear(words: Words, steps: readonly string[]): void {
    grown.add({ who: "user", steps, ...splitWords(words) });
  }

  function tell(told: Told): void {
    if (run.hasRefused) return; // it is told when the turn goes on
    if (told.type !== "say") return run.emit(told);
    const { step } = told;
    const text = run.mask(told.text);
    const n = grown.add({ who: "assistant", text, steps: [step] });
    run.emit({ type: "message", step, n, text });
  }

  function completed(): RunEnd {
    if (unheard !== undefined) {
      const text = "no step waited for a message: what was said at the start is not in the log";
      run.emit({ type: "warning", text });
    }
    return ended({ status: "completed" });
  }

  function held(position: Position): RunEnd {
    for (const step of heldSteps(position)) run.emit({ type: "hold", step });
    return ended({ status: "held", position });
  }

  function failed({ step, cause }: StepFailure): RunEnd {
    const position = { at: "failed", step } as const;
    const end = ended({ status: "failed", position, error: cause.message, waiting: unheard });
    const reason = reasonOf(cause);
    // In the list of runs it is stopped: its step can be tried again.
    return { ...end, error: cause.message, ...(reason === undefined ? {} : { reason }), keepAs: "stopped" };
  }

  /** @throws {DOMException} when the process is about to end and a step did not begin: the turn is gone on with from there */
  function assertCounts(): void {
    if (run.hasRefused) throw new DOMException("the process is about to end", "AbortError");
  }

  function ended(how: Omit<ConversationState, "hash" | "slots" | "visits">): RunEnd {
    assertCounts();
    const state: ConversationState = {
      ...how,
      hash: agent.hash,
      slots: slots.own,
      visits: Object.fromEntries(visits),
    };
    const messages = grown.added;
    options.save({ state: toJson(state), messages, slots: slots.written(options.scope) }, state);
    const said = messages.flatMap(({ who, text }) => who === "assistant" ? [text] : []);
    return { status: how.status, ...(said.length > 0 && { value: said.join("\n\n") }) };
  }

  try {
    const position = await steps(entry());
    return position === undefined ? completed() : held(position);
  } catch (error) {
    if (error instanceof StepFailure) return failed(error);
    throw error;
  }
}

function slotsAt(state: ConversationState | undefined, { slots, preloaded = {} }: TurnStart): SlotValues {
  return { ...slots, conversation: state === undefined ? preloaded : state.slots };
}

/** What ended it, where that decides the exit code. */
function reasonOf(error: Error): string | undefined {
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof ModelError) return modelReason(cause);
    if (cause instanceof PermissionRefused) return "permission";
    if (cause instanceof EffectError && cause.failure.code === "permission") return "permission";
  }
  return undefined;
}

/** What a turn begins with: everything that it takes from outside, so that it can be made again. */
export interface TurnStart {
  /** What the person said. Absent: nothing, the conversation begins or the step that failed is tried again. */
  readonly text?: string;
  /** What was shown with it. */
  readonly media?: readonly MediaPart[];
  /** The slots of this person by then. */
  readonly slots: { readonly session: JsonObject; readonly module: JsonObject; readonly global: JsonObject };
  /** Of the first turn: the conversation's own slots. */
  readonly preloaded?: JsonObject;
  /** Of the first turn: slots that whoever began it has set. */
  readonly given?: readonly SlotValue[];
  /** SHA-256 of the agent file that is run. */
  readonly hash: string;
}

/** As the journal has kept it: nobody else writes there. */
export function readTurnStart(json: Json): TurnStart;
export function readTurnStart(json: unknown): unknown {
  return json;
}
