import {
  isJsonObject,
  type Journal,
  type Model,
  type RunEvent,
  type RunJournal,
  type RunTrace,
  type Secrets,
  type StepRecord,
  turnKey,
  type User,
} from "../../core/core.ts";
import type { AgentFile } from "../../parse/agent/agent.ts";
import type { ConversationModels } from "../../run/conversation/work.ts";
import { type ConversationHome, LiveConversation } from "../../run/conversation/conversation.ts";
import { messagesFrom } from "../input/kept_input.ts";
import { conversationAbout, type ConversationInput, type OpenedAgent } from "./agent.ts";
import { containersOf } from "../prompt/containers.ts";
import type { RunSurroundings } from "../start/ready_run.ts";
import { type Decisions, settleSteps } from "../start/settle.ts";

/** What a conversation of the command line is held with. */
export interface ConversationSessionOptions {
  readonly home: Omit<ConversationHome, "signal">;
  readonly id: string;
  /** The store does not have it yet. */
  readonly isNew: boolean;
  /** Keeps what it may do for another one that goes on in its place. Default: nothing is kept. */
  readonly keepGrants?: (id: string) => Promise<void>;
}

/** Where a conversation went back to. */
export interface WentBack {
  /** The turn behind which it stands; 0 is its beginning. */
  readonly turn: number;
}

/** A conversation of the command line. When it goes back to an earlier turn another one takes its place, and the old one stays as it is. */
export class ConversationSession {
  readonly #options: ConversationSessionOptions;
  readonly #journal: SettledJournal;
  #stop = new AbortController();
  #live: LiveConversation;

  /** @throws {ConversationError} `gone` */
  constructor(options: ConversationSessionOptions) {
    const { id, isNew, home } = options;
    const { means, journal } = home;
    const models = isNew ? means.models : goingOn(means.models, () => journal.read(id));
    this.#options = { ...options, home: { ...home, means: { ...means, models } } };
    this.#journal = settledJournal(journal);
    this.#live = isNew ? LiveConversation.begin(id, this.#home) : LiveConversation.open(id, this.#home);
  }

  get live(): LiveConversation {
    return this.#live;
  }

  /** `seq` of the last event that was kept when its last turn was opened; 0 where there was none. */
  get before(): number {
    return this.#journal.before;
  }

  /** The turn that was begun last was interrupted. */
  get isInterrupted(): boolean {
    return this.#live.status === "running";
  }

  /** Makes a turn, which the signal interrupts; another one can be made behind it. */
  async *turn(
    make: (live: LiveConversation) => AsyncIterable<RunEvent>,
    { signal }: { readonly signal: AbortSignal },
  ): AsyncGenerator<RunEvent> {
    if (this.#stop.signal.aborted) this.#reopen(this.#live.id); // its signal is that of its home, for good
    const onAbort = () => this.#stop.abort(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) onAbort();
    try {
      yield* make(this.#live);
    } finally {
      signal.removeEventListener("abort", onAbort);
    }
  }

  /** Settles what the interrupted turn had begun and may not be done twice; gives what nobody has decided about. @throws as `settleSteps` */
  async settle(
    { user, decisions }: { readonly user: User; readonly decisions: Decisions },
  ): Promise<readonly StepRecord[]> {
    const { id } = this.#live;
    const { steps } = this.#journal.read(id);
    const run = this.#journal.open(id);
    try {
      const settle: RunJournal["settle"] = (key, decision) => {
        run.settle(key, decision);
        if (decision === "rerun") this.#journal.rerun(key);
      };
      return await settleSteps({ settle }, { steps, decisions, user });
    } finally {
      run.release("stopped");
    }
  }

  /** Takes back the last turns. @throws {RangeError} when there are not so many */
  async back(count: number): Promise<WentBack> {
    const { keepGrants } = this.#options;
    const turns = this.#live.turns + (this.isInterrupted ? 1 : 0);
    const turn = turns - count;
    if (turn < 0) {
      throw new RangeError(`There ${turns === 1 ? "is 1 turn" : `are ${turns} turns`} to take back`);
    }
    const id = this.#journal.branch(this.#live.id, { turn });
    await keepGrants?.(id);
    this.#reopen(id);
    return { turn };
  }

  #reopen(id: string): void {
    this.#stop = new AbortController();
    this.#live = LiveConversation.open(id, this.#home);
  }

  get #home(): ConversationHome {
    return { ...this.#options.home, journal: this.#journal, signal: this.#stop.signal };
  }
}

/** A script goes on behind what it has said in the turns of before, whichever process has made them: it is opened anew with each of ours. */
function goingOn(models: ConversationModels, trace: () => RunTrace): ConversationModels {
  const known = new Set<Model>();
  return {
    async find(...asked) {
      const model = await models.find(...asked);
      if (model?.id.startsWith("script/") && !known.has(model)) {
        known.add(model);
        for (const { input, outcome } of ownQuestions(model.id, trace())) {
          const messages = isJsonObject(input) ? messagesFrom(input.messages ?? null) : [];
          model.answered?.({ messages }, { isFailure: outcome === undefined || "error" in outcome });
        }
      }
      return model;
    },
  };
}

/** The key of a question of one of its own steps: a document or a prompt that it runs inside has models of its own. */
const OWN_QUESTION = /^[^[]+(?:\/turn\[\d+\])?\/model$/;

/** Of the turns that have ended, where what has no outcome has failed: those of the open one are given again where it goes through them. */
function ownQuestions(name: string, { steps, checkpoints }: RunTrace): readonly StepRecord[] {
  const open = steps.findIndex(({ key }) => key === turnKey((checkpoints.at(-1)?.n ?? 0) + 1));
  return steps.slice(0, open < 0 ? steps.length : open).filter((step) =>
    step.kind === "model" && step.name === name && OWN_QUESTION.test(step.key)
  );
}

/** A journal that knows what the user said of steps whose end is not known, and where the run was that it has opened. */
interface SettledJournal extends Journal {
  /** `seq` of the last event when a run was opened last; 0 before the first. */
  readonly before: number;
  /** The run that is opened next does this step again. */
  rerun(key: string): void;
}

/** Keeps the decisions until then: a conversation is opened anew for each of its turns. */
function settledJournal(journal: Journal): SettledJournal {
  const reruns = new Set<string>();
  let before = 0;
  return {
    get before() {
      return before;
    },
    rerun: (key) => void reruns.add(key),
    open(id) {
      const run = journal.open(id);
      for (const key of reruns) run.settle(key, "rerun");
      reruns.clear();
      before = run.lastSeq;
      return run;
    },
    create: (...given) => journal.create(...given),
    list: (...given) => journal.list(...given),
    read: (id) => journal.read(id),
    events: (...given) => journal.events(...given),
    conversation: (...given) => journal.conversation(...given),
    fork: (...given) => journal.fork(...given),
    branch: (...given) => journal.branch(...given),
    slots: (scope) => journal.slots(scope),
    remove: (id) => journal.remove(id),
    [Symbol.dispose]: () => journal[Symbol.dispose](),
  };
}

/** What a conversation of the command line is made of. */
export interface ConversationHomeOptions extends OpenedAgent {
  readonly agent: AgentFile;
  readonly input: ConversationInput;
  readonly journal: Journal;
  readonly secrets: Secrets;
  readonly around: Pick<RunSurroundings, "approvals">;
  readonly drain?: ConversationHome["drain"];
}

/** The same for the engine. */
export function conversationHome(
  { agent, input, journal, secrets, around: { approvals }, place, means, drain }: ConversationHomeOptions,
): Omit<ConversationHome, "signal"> {
  const { project, grants, accepted, catalog, world } = place;
  const { scope, context, given, model, budget, limits } = input;
  return {
    agent,
    means,
    journal,
    scope,
    context,
    given,
    about: conversationAbout(input),
    maxSteps: project.config.conversations.steps,
    clock: world.clock,
    secrets,
    containers: containersOf({
      place: () => ({ project, grants, accepted }),
      catalog,
      world,
      canAsk: approvals !== undefined,
      budget,
      limits,
      modelName: model,
    }),
    approvals,
    drain,
  };
}
