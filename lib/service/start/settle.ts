import { type RunJournal, StepNotFoundError, type StepRecord, type User } from "../../core/core.ts";
import { shellWord } from "../../policy/refusal.ts";
import { printableLine } from "../../render/shown_text.ts";
import { UsageError } from "../exit_code.ts";
import { fieldError, ServiceError } from "../service.ts";

/** What the user says of steps whose end is not known. */
export interface Decisions {
  readonly rerun: readonly string[];
  readonly skip: readonly string[];
}

/** A step that was started, may not be done twice, and whose end nobody knows. */
function unverifiedSteps(steps: readonly StepRecord[]): readonly StepRecord[] {
  return steps.filter(({ status, idempotent, outcome }) =>
    status === "started" && !idempotent && outcome === undefined
  );
}

/**
 * Settles every unverified step by the flags, and the rest by asking. Gives those that nobody has decided about: then nothing may run.
 *
 * @throws {UsageError} for a key that both flags name; {StepNotFoundError} for one that is none
 */
export async function settleSteps(
  run: Pick<RunJournal, "settle">,
  { steps, decisions, user }: {
    readonly steps: readonly StepRecord[];
    readonly decisions: Decisions;
    readonly user: User;
  },
): Promise<readonly StepRecord[]> {
  const both = decisions.rerun.find((key) => decisions.skip.includes(key));
  if (both !== undefined) {
    throw new UsageError(`--rerun ${both} and --skip ${both} cannot both be meant`, "resume");
  }
  const open = unverifiedSteps(steps);
  const named = [...decisions.rerun, ...decisions.skip].filter((key) => key !== "all");
  const wrong = named.find((key) => !open.some((step) => step.key === key));
  if (wrong !== undefined) run.settle(wrong, "rerun"); // the journal knows best what is wrong with it
  const left: StepRecord[] = [];
  for (const step of open) {
    const decision = flagDecision(step.key, decisions) ?? await askedDecision(step, user);
    if (decision === "stop") return open;
    if (decision === undefined) left.push(step);
    else run.settle(step.key, decision === "rerun" ? "rerun" : { outcome: { ok: null } });
  }
  return left;
}

/** Each step with what it was, and the flags that decide about it. */
export function unverifiedText(id: string, steps: readonly StepRecord[]): string {
  const lines = steps.flatMap((step) => {
    const key = shellWord(step.key);
    return [
      `  ${whatItWas(step)}`,
      `    orrery resume ${id} --rerun ${key}   does it again`,
      `    orrery resume ${id} --skip ${key}   takes it as done, with the result null`,
    ];
  });
  const [were, they] = steps.length === 1 ? ["One step was", "it"] : [`${steps.length} steps were`, "they"];
  return `${were} started and may not be done twice, and how ${they} ended is not known. Nothing runs until you say what to do:\n${
    lines.join("\n")
  }\n`;
}

/** What is said of a step holds for the steps inside of it, of which nothing else is said. */
function flagDecision(key: string, { rerun, skip }: Decisions): "rerun" | "skip" | undefined {
  for (let at = key; at !== ""; at = at.slice(0, Math.max(0, at.lastIndexOf("/")))) {
    if (rerun.includes(at)) return "rerun";
    if (skip.includes(at)) return "skip";
  }
  if (rerun.includes("all")) return "rerun";
  return skip.includes("all") ? "skip" : undefined;
}

async function askedDecision(step: StepRecord, user: User): Promise<"rerun" | "skip" | "stop" | undefined> {
  if (!user.canAnswer) return undefined;
  const question = `${
    whatItWas(step)
  }\nwas started, and how it ended is not known. Do it again, take it as done, or stop here?`;
  const answer = await user.ask(question, {
    choices: ["again", "done", "stop"],
    words: { rerun: "again", skip: "done" }, // as the flags say it
  });
  return answer === "again" ? "rerun" : answer === "done" ? "skip" : "stop";
}

const INPUT_CHARACTERS = 200;

function whatItWas({ key, name, input }: StepRecord): string {
  const text = JSON.stringify(input);
  const shown = text.length <= INPUT_CHARACTERS ? text : `${text.slice(0, INPUT_CHARACTERS)}…`;
  return printableLine(`${key}: ${name} ${shown}`);
}

/**
 * Settles them before a run goes on, where nobody can be asked.
 *
 * @param settle gives those that nobody has decided about
 * @throws {ServiceError} `unverified` with `details.steps`, `{key, name, input}` each, when there are some; `invalid` for keys that are none
 */
export async function settled(
  id: string,
  { rerun = [], skip = [] }: Partial<Decisions>,
  settle: (decisions: Decisions) => Promise<readonly StepRecord[]>,
): Promise<void> {
  const both = rerun.find((key) => skip.includes(key));
  if (both !== undefined) {
    const message = `rerun and skip both name ${JSON.stringify(both)}: leave it out of one of them`;
    throw fieldError("skip", message);
  }
  let left: readonly StepRecord[];
  try {
    left = await settle({ rerun, skip });
  } catch (error) {
    if (!(error instanceof StepNotFoundError)) throw error;
    throw fieldError("rerun", `rerun, skip: ${error.message}`);
  }
  if (left.length > 0) throw unverifiedError(id, left);
}

/** Nothing runs until somebody says what to do. */
function unverifiedError(id: string, left: readonly StepRecord[]): ServiceError {
  const [were, they] = left.length === 1 ? ["one step was", "it"] : [`${left.length} steps were`, "they"];
  return new ServiceError(
    `${were} started in ${id} and may not be done twice, and how ${they} ended is not known: ` +
      "name each in rerun (it is done again) or in skip (it is taken as done, with the result null)",
    { code: "unverified", details: { steps: left.map(({ key, name, input }) => ({ key, name, input })) } },
  );
}
