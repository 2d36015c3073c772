import {
  isJsonObject,
  type Journal,
  type Model,
  type RunEvent,
  type RunJournal,
  type RunStart,
  type RunTrace,
  type Secrets,
  type StepRecord,
  turnKey,
  type User,
} from "../../core/core.ts";
import type { RunRecord } from "../keep.ts";
import { dropGrants, keepGrants } from "../../project/trust/grants.ts";
import type { ConversationModels } from "../../run/conversation/work.ts";
import {
  type ConversationHome,
  conversationStart,
  type LiveConversation,
  newConversation,
  storedConversation,
} from "../../run/conversation/conversation.ts";
import { messagesFrom } from "../input/kept_input.ts";
import {
  conversationAbout,
  openAgent,
  type OpenAgentOptions,
  type OpenedAgent,
  type RefusedAgent,
} from "./agent.ts";
import { containersOf } from "../start/containers.ts";
import { promptsAt } from "../start/ready_run.ts";
import { type Decisions, settleSteps } from "../start/settle.ts";

/** A conversation that is to be held. */
export interface OpenSessionOptions extends OpenAgentOptions {
  readonly id: string;
  /** Where it is kept; asked for once its agent has all that it needs. */
  readonly store: () => SessionStore;
  /** Begins to record it. Default: nothing is recorded. */
  readonly record?: (start: RunStart & { readonly id: string }, secrets: Secrets) => RunRecord;
  /** Stops a turn when the process is about to end. */
  readonly drain?: ConversationHome["drain"];
}

/** Where conversations are kept. */
export interface SessionStore {
  readonly journal: Journal;
  /** What it masks. */
  readonly secrets: Secrets;
}

/** Opens all that a conversation needs; or gives what is missing, of which nothing is kept. @throws {ConversationError} `gone`; as `openAgent` */
export async function openSession(
  options: OpenSessionOptions,
): Promise<ConversationSession | RefusedAgent> {
  const opened = await openAgent(options);
  return "problems" in opened ? opened : new ConversationSession(options, opened);
}

/** Where a conversation went back to. */
export interface WentBack {
  /** The turn behind which it stands; 0 is its beginning. */
  readonly turn: number;
}

/** A conversation that is held. When it goes back to an earlier turn another one takes its place, and the old one stays as it is. */
export class ConversationSession {
  readonly #options: OpenSessionOptions;
  readonly #journal: Journal;
  #record: RunRecord | undefined;
  readonly #home: Omit<ConversationHome, "signal">;
  /** What the user said of steps whose end is not known: kept until its next turn, for which it is opened anew. */
  readonly #reruns = new Set<string>();
  #before = 0;
  #stop = new AbortController();
  #live: LiveConversation;

  /** @throws {ConversationError} `gone` */
  constructor(options: OpenSessionOptions, { place, means }: OpenedAgent) {
    const { id, isNew, agent, input, project, around: { approvals }, drain } = options;
    const { scope, context, given, model: modelName, effort, budget, limits } = input;
    const { accepted, catalog, world } = place;
    const { journal, secrets } = options.store();
    const about = conversationAbout(input);
    const { steps: maxSteps } = project.config.conversations;
    const recorded = conversationStart({ agent, scope, about: { ...about, maxSteps } });
    this.#record = options.record?.({ ...recorded, id }, secrets);
    const models = isNew ? means.models : goingOn(means.models, () => journal.read(id));
    this.#options = options;
    this.#journal = journal;
    this.#home = {
      agent,
      means: { ...means, models },
      journal,
      scope,
      context,
      given,
      effort,
      about,
      recorder: this.#record?.recorder,
      observer: project.observe?.(agent.file),
      maxSteps,
      clock: world.clock,
      secrets,
      containers: containersOf({
        place: promptsAt(options, accepted),
        catalog,
        world,
        canAsk: approvals !== undefined,
        budget,
        limits,
        modelName,
      }),
      approvals,
      drain,
      onOpen: (run) => {
        for (const key of this.#reruns) run.settle(key, "rerun");
        this.#reruns.clear();
        this.#before = run.lastSeq;
      },
    };
    const { signal } = this.#stop;
    this.#live = (isNew ? newConversation : storedConversation)(id, { ...this.#home, signal });
  }

  get live(): LiveConversation {
    return this.#live;
  }

  /** `seq` of the last event that was kept when its last turn was opened; 0 where there was none. */
  get before(): number {
    return this.#before;
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
        if (decision === "rerun") this.#reruns.add(key);
      };
      return await settleSteps({ settle }, { steps, decisions, user });
    } finally {
      run.release("stopped");
    }
  }

  /** Takes back the last turns. @throws {RangeError} when there are not so many */
  async back(count: number): Promise<WentBack> {
    const turns = this.#live.turns + (this.isInterrupted ? 1 : 0);
    const turn = turns - count;
    if (turn < 0) {
      throw new RangeError(`There ${turns === 1 ? "is 1 turn" : `are ${turns} turns`} to take back`);
    }
    const id = this.#journal.branch(this.#live.id, { turn });
    await this.keepGrants(id);
    this.#reopen(id);
    return { turn };
  }

  /** What it may do is there for whoever goes on with it. */
  async keepGrants(id: string = this.#live.id): Promise<void> {
    const { isEphemeral, grants, project } = this.#options;
    if (!isEphemeral) await keepGrants(id, grants, project);
  }

  /** Where its record is until it is whole. */
  get partialRecord(): string | undefined {
    return this.#record?.file.partialPath;
  }

  /** Closes its store and its record; what it was allowed is forgotten with its end. @throws {FileError} for the record */
  close(): void {
    const { status, id } = this.#live;
    const record = this.#record;
    this.#record = undefined;
    record?.file.finish();
    this.#journal[Symbol.dispose]();
    if (status === "completed") dropGrants(id);
  }

  #reopen(id: string): void {
    this.#stop = new AbortController();
    this.#live = storedConversation(id, { ...this.#home, signal: this.#stop.signal });
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
