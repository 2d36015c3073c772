// The service of a node: what is wished is handed over, and what is asked is learned first.
import type { Words } from "../core/core.ts";
import { newRunId } from "../journal/new_run.ts";
import type { OwnRuns } from "../service/open_service.ts";
import { busyRun } from "../service/runs/kept.ts";
import type { RunStageOptions } from "../service/runs/stage.ts";
import type {
  BeginTalk,
  ResumeWishes,
  RunHandle,
  RunShows,
  Service,
  StartRun,
  TalkHandle,
} from "../service/service.ts";
import { goOn } from "../service/start/resume.ts";
import { type ConversationInput, conversationInput } from "../service/talks/agent.ts";
import { isLacking } from "./refusal.ts";

/** What is done with a run. */
export type NodeTask =
  | { readonly do: "start"; readonly request: StartRun }
  | { readonly do: "resume"; readonly wishes: ResumeWishes }
  | { readonly do: "begin"; readonly wish: BeginTalk }
  | { readonly do: "say"; readonly words: Words };

/** What is asked of all nodes. */
export interface RunNodes {
  /** Takes runs from now on. @param perform does a task here, or goes on with it */
  open(
    around: Pick<RunStageOptions, "registry" | "drain">,
    perform: (run: string, task: NodeTask, isAgain: boolean) => Promise<RunHandle>,
  ): Promise<void>;
  /** Comes back when a node has it. @throws {ServiceError} as that node says */
  hand(run: string, task: NodeTask, shows?: RunShows): Promise<RunHandle>;
  /** What is known here of a run is what is kept; where another node has it, it is followed. */
  learn(run: string): Promise<void>;
  /** Keeps a run that was made of another one here. */
  keepCopy(run: string): Promise<void>;
  /** There is something of it here. */
  knows(run: string): boolean;
  /** It is removed everywhere. */
  forget(run: string): Promise<void>;
  /** The same of the list of all. */
  learnAll(): Promise<void>;
  /** Makes known here what conversations have left in their slots. */
  learnSlots(scope: ConversationInput["scope"]): Promise<void>;
}

/** Takes runs from now on. Gives the service that asks all nodes. */
export async function nodeService(
  service: Service,
  nodes: RunNodes,
  { stage, talks, start, look }: OwnRuns,
): Promise<Service> {
  const isTalk = (run: string): boolean => stage.summary(run).kind === "conversation";
  await nodes.open(stage.options, async (run, task, isAgain) => {
    switch (task.do) {
      case "start":
        return isAgain
          ? await goOn(run, { canAsk: task.request.canAsk }, stage)
          : await start(task.request, run);
      case "resume": {
        const wishes = isAgain ? { canAsk: task.wishes.canAsk } : task.wishes;
        return isTalk(run) ? await talks.resume(run, wishes) : await goOn(run, wishes, stage);
      }
      case "begin":
        return isAgain ? await talks.resume(run, {}) : await talks.beginAs(run, task.wish);
      case "say": {
        const isBegun = isAgain && stage.options.journal.conversation(run, { last: 0 }).isOpen;
        return isBegun ? await talks.resume(run, {}) : await (await talks.open(run)).say(task.words);
      }
      default: // a node of that version takes it
        throw new Error(
          `Another version of Orrery has handed this over: ${JSON.stringify(task satisfies never)}`,
        );
    }
  });

  /** @throws {ServiceError} `busy` */
  const assertFree = async (run: string): Promise<void> => {
    await nodes.learn(run);
    if (service.find(run)?.status === "running") throw busyRun(run);
  };
  const next = async (run: string, task: NodeTask): Promise<RunHandle> => {
    await assertFree(run);
    return await nodes.hand(run, task);
  };
  const durableTalk = (talk: TalkHandle): TalkHandle => ({
    ...talk,
    async state(range) {
      await nodes.learn(talk.id);
      const { run } = stage.options.journal.conversation(talk.id, { last: 0 });
      await nodes.learnSlots(conversationInput(run.input).scope);
      return await talk.state(range);
    },
    say: (words) => next(talk.id, { do: "say", words }),
    retry: () => next(talk.id, { do: "resume", wishes: {} }),
    async back(turns) {
      await nodes.learn(talk.id);
      const state = await talk.back(turns);
      await nodes.keepCopy(state.id);
      return state;
    },
  });
  const known = <Value>(look: (id: string) => Promise<Value>) => async (id: string): Promise<Value> => {
    await nodes.learn(id);
    return await look(id);
  };
  const durable: Service = {
    ...service,
    get active() {
      return service.active;
    },
    get limit() {
      return service.limit;
    },
    get now() {
      return service.now;
    },
    async start(request) {
      const whole = request.kind !== "calls" || typeof request.text === "string"
        ? request
        : { ...request, text: (await Array.fromAsync(request.text)).join("") };
      let missing: unknown;
      const shows = await look(whole).catch((error) => {
        if (!isLacking(error)) throw error;
        missing = error;
        return undefined;
      });
      try {
        return await nodes.hand(newRunId(Date.now()), { do: "start", request: whole }, shows);
      } catch (error) {
        throw missing ?? error;
      }
    },
    async idOf(beginning) {
      await nodes.learn(beginning); // most say all of it, and then nobody has to list all runs
      if (!nodes.knows(beginning)) {
        await nodes.learnAll();
        const ids = stage.options.journal.list().flatMap(({ id }) => id.startsWith(beginning) ? [id] : []);
        await Promise.all(ids.map(nodes.learn));
      }
      return await service.idOf(beginning);
    },
    run: known((id) => service.run(id)),
    status: known((id) => service.status(id)),
    trace: known((id) => service.trace(id)),
    async runs(query) {
      await nodes.learnAll();
      return await service.runs(query);
    },
    async read(id, options) {
      await nodes.learn(id);
      return await service.read(id, options);
    },
    async remove(id) {
      await assertFree(id);
      await service.remove(id);
      await nodes.forget(id);
    },
    resume: (id, wishes) => next(id, { do: "resume", wishes }),
    talks: {
      async begin(wish) {
        const id = newRunId(Date.now());
        const turn = await nodes.hand(id, { do: "begin", wish });
        return { talk: durableTalk(await talks.open(id)), turn };
      },
      async open(id) {
        await nodes.learn(id);
        return durableTalk(await talks.open(id));
      },
      async list(options) {
        await nodes.learnAll();
        const found = stage.options.journal.list({
          kind: "conversation",
          limit: options?.limit,
          file: options?.agent,
        });
        await Promise.all(found.map(({ id }) => nodes.learn(id)));
        return await talks.list(options);
      },
    },
  };
  return durable;
}
