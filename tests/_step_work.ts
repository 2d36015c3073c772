// One step of a conversation without the engine around it: what it says, writes and warns of is a list of lines.
import type { AgentStep, Json, JsonObject, LogEntry, RunEvent, StepBase } from "../mod.ts";
import { fillJson, fillText, type LookUpSlot } from "../lib/conversation/fill_template.ts";
import { memoryMessage, selectMemory } from "../lib/conversation/message_log.ts";
import { slotKey } from "../lib/conversation/slots.ts";
import type { ConversationMeans, StepWork } from "../lib/run/conversation/work.ts";
import { Run, type RunOptions } from "../lib/run/run.ts";

/** How the step finds the world. */
export interface StepWorkOptions {
  readonly models?: ConversationMeans["models"];
  readonly means?: Partial<ConversationMeans>;
  readonly run?: RunOptions;
  /** As `destination.name`. */
  readonly slots?: Readonly<Record<string, Json>>;
  readonly constants?: JsonObject;
  /** `who step: text`, oldest first. */
  readonly log?: readonly string[];
}

/** A step at work, and what has come of it. */
export interface StepAtWork<Step> {
  readonly work: StepWork<Step>;
  /** `delta TEXT`, `say TEXT`, `discard`, `warn TEXT`, `set DESTINATION.NAME JSON`, in order. */
  readonly told: readonly string[];
  readonly slots: ReadonlyMap<string, Json>;
  /** Ends the run and gives its events. */
  events(): Promise<readonly RunEvent[]>;
}

/** The part of a step that all have. */
export function stepBase(id: string): StepBase {
  return {
    id,
    conditions: [],
    path: "structure.action",
    span: { file: "a.agent.yml", line: 1, column: 1 },
  };
}

/** Sets a step to work, in a run of its own. */
export function stepWork<Step extends AgentStep>(
  step: Step,
  options: StepWorkOptions = {},
): StepAtWork<Step> {
  const { constants = {} } = options;
  const slots = new Map(Object.entries(options.slots ?? {}));
  const told: string[] = [];
  const lookUp: LookUpSlot = (name, destination) =>
    slots.get(`${destination ?? "conversation"}.${name}`) ??
      (destination === undefined ? constants[name] : undefined);
  const run = new Run(options.run ?? {});
  run.start("conversation", undefined);
  const log = (options.log ?? []).map(entry);
  const work: StepWork<Step> = {
    run,
    means: { ...meansOf(options), ...options.means },
    step,
    key: `main/${step.id}`,
    constants,
    signal: run.signal,
    fill: (text) => fillText(text, lookUp),
    fillValue: (value) => fillJson(value, lookUp),
    slot: (path) => slots.get(slotKey(path)),
    setSlot(path, value) {
      slots.set(slotKey(path), value);
      told.push(`set ${slotKey(path)} ${JSON.stringify(value)}`);
    },
    memory: (selections, limit) =>
      selectMemory(log, { selections, limit, step: step.id, within: (id) => new Set([id]) }).map(
        memoryMessage,
      ),
    delta: (text) => void told.push(`delta ${text}`),
    say: (text) => void told.push(`say ${text}`),
    discard: () => void told.push("discard"),
    warn: (text) => void told.push(`warn ${text}`),
  };
  return {
    work,
    told,
    slots,
    async events() {
      run.end({ status: "done" });
      const events: RunEvent[] = [];
      for await (const event of run.events) events.push(event);
      return events;
    },
  };
}

function meansOf({ models }: StepWorkOptions): ConversationMeans {
  const nobody = (what: string) => () => {
    throw new Error(`this test has no ${what}`);
  };
  return {
    models: models ?? { find: nobody("models") },
    http: { fetch: nobody("network"), open: nobody("network") },
    tools: { find: () => undefined, names: () => Promise.resolve([]) },
    budget: {},
    calls: {},
    random: () => 0,
    env: nobody("environment"),
    runFile: nobody("files to run"),
    askPrompt: nobody("prompts"),
  };
}

function entry(line: string, index: number): LogEntry {
  const [, who = "", step = "", text = ""] = /^(\w+) ([\w-]+): ([\s\S]*)$/.exec(line) ?? [];
  return { n: index + 1, who: who === "user" ? "user" : "assistant", text, steps: [step] };
}
