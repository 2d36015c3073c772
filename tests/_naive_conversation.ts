// The rules of conversations.md 2.2 to 2.5 once more, in another way: each chain of steps without combined ones around them is a list of
// instructions with a counter, and branches run one after the other. It reads what a file says, without the parser.

import type { Json } from "../mod.ts";
import type { StepJson } from "./_conversation_turns.ts";

interface Body {
  readonly id: string;
  readonly conditions?: readonly {
    readonly name: string;
    readonly condition: Readonly<Record<string, Json>>;
  }[];
  readonly message?: { readonly message: string; readonly hold?: boolean };
  readonly llm?: { readonly prompts: readonly { readonly user: string }[]; readonly hold?: boolean };
  readonly "set-slot"?: { readonly values: readonly { path: { name: string }; value: Json }[] };
  readonly counter?: { readonly slot: { readonly name: string } };
  readonly flow?: { readonly goto?: string; readonly action?: string };
  readonly chain?: readonly Body[];
  readonly combined?: readonly Body[];
}

interface Instruction {
  readonly op: "begin" | "do" | "end";
  readonly step: Body;
}

type Flow = { readonly from: string; readonly to: string } | "repeat" | "end";

interface Region {
  readonly list: readonly Instruction[];
  readonly parent: Region | undefined;
  /** What was written in it; of the outermost one all slots. */
  readonly slots: Map<string, Json>;
  pc: number;
  state: "running" | "held" | "done" | "failed" | { readonly flow: Flow };
  /** Of the combined step at `pc`. */
  children: readonly Region[] | undefined;
  /** The step at `pc` is tried again: its conditions are not looked at. */
  isRetry: boolean;
  error: string;
  /** Messages of the log that it knows; of the outermost one all. */
  seen: number;
}

/** A conversation by the naive rules. */
export class NaiveConversation {
  readonly log: string[] = [];
  status: "held" | "completed" | "failed" = "held";
  error = "";
  /** Of the last turn: `say`, `set`, `skip`, `jump` and `hold`. */
  told: string[] = [];
  /** The last turn was stopped inside a combined step: where exactly depends on the order in which branches run. */
  isVague = false;
  /** How often a model was asked. */
  asked = 0;
  readonly #root: Region;
  readonly #paths = new Map<string, readonly Body[]>();
  readonly #maxSteps: number;
  #count = 0;
  #waiting: string | undefined;

  constructor(
    root: StepJson,
    { slots, maxSteps }: { slots: Readonly<Record<string, Json>>; maxSteps: number },
  ) {
    const body = root as unknown as Body;
    this.#addPaths(body, []);
    this.#root = region(body, undefined);
    for (const [name, value] of Object.entries(slots)) this.#root.slots.set(name, value);
    this.#maxSteps = maxSteps;
  }

  get slots(): Readonly<Record<string, Json>> {
    return Object.fromEntries([...this.#root.slots].map(([name, value]) => [`conversation.${name}`, value]));
  }

  start(text?: string): void {
    this.#begin();
    this.#waiting = text;
    this.#run(this.#root);
    this.#end();
  }

  say(text: string): void {
    this.#begin();
    if (this.status === "failed") {
      this.log.push(`user ${this.#root.list[this.#root.pc]?.step.id}: ${text}`);
      this.#retry();
    } else this.#answer(text);
    this.#end();
  }

  retry(): void {
    this.#begin();
    this.#retry();
    this.#end();
  }

  #begin(): void {
    this.told = [];
    this.error = "";
    this.#count = 0;
    this.isVague = false;
  }

  #retry(): void {
    const root = this.#root;
    root.children = undefined;
    root.isRetry = true;
    root.state = "running";
    this.#run(root);
  }

  #end(): void {
    const root = this.#root;
    while (root.state === "held" && this.#waiting !== undefined) {
      const text = this.#waiting;
      this.#waiting = undefined;
      this.#count = 0;
      this.#answer(text);
    }
    this.status = root.state === "held" ? "held" : root.state === "failed" ? "failed" : "completed";
    this.error = root.state === "failed" ? root.error : "";
    if (root.state === "held") this.told.push(...held(root).map((id) => `hold ${id}`));
  }

  #answer(text: string): void {
    this.log.push(`user ${held(this.#root).join(",")}: ${text}`);
    this.#resume(this.#root);
  }

  #resume(at: Region): void {
    at.state = "running";
    if (at.children === undefined) at.pc++;
    else this.#combined(at);
    this.#run(at);
  }

  #run(at: Region): void {
    while (at.state === "running") {
      const now = at.list[at.pc];
      if (now === undefined) at.state = "done";
      else if (now.op === "end") at.pc++;
      else if (now.op === "begin") at.pc = this.#holds(at, now.step) ? at.pc + 1 : behind(at, now.step);
      else this.#do(at, now.step);
    }
  }

  #do(at: Region, step: Body): void {
    if (++this.#count > this.#maxSteps) {
      if (at.parent !== undefined) this.isVague = true;
      return fail(at, `step "${step.id}": stopped after ${this.#maxSteps} steps`);
    }
    const isLookedAt = !at.isRetry;
    at.isRetry = false;
    if (isLookedAt && !this.#holds(at, step)) at.pc++;
    else if (step.combined !== undefined) {
      at.children = step.combined.map((child) => region(child, at));
      this.#combined(at);
    } else if (step.flow !== undefined) this.#flow(at, step.flow);
    else this.#perform(at, step);
  }

  #perform(at: Region, step: Body): void {
    const { message, llm, counter } = step;
    if (message !== undefined) this.#say(at, step.id, this.#fill(at, message.message));
    if (llm !== undefined) this.#say(at, step.id, this.#ask(at, step.id, llm.prompts[0]?.user ?? ""));
    const values = step["set-slot"]?.values.map(({ path, value }) =>
      [path.name, this.#value(at, value)] as const
    );
    for (const [name, value] of values ?? []) this.#write(at, name, value);
    if (counter !== undefined) {
      const { name } = counter.slot;
      const found = this.#slot(at, name) ?? 0;
      const n = typeof found === "string" && /^\d+$/.test(found) ? Number(found) : found;
      if (typeof n !== "number") return fail(at, `step "${step.id}": slot "conversation.${name}" holds`);
      this.#write(at, name, n + 1);
    }
    if (message?.hold === true || llm?.hold === true) at.state = "held";
    else at.pc++;
  }

  #ask(at: Region, id: string, prompt: string): string {
    this.asked++;
    return naiveReply(id, this.#fill(at, prompt), at.parent === undefined ? this.log.length : at.seen);
  }

  #say(at: Region, id: string, text: string): void {
    if (text === "") return;
    this.log.push(`bot ${id}: ${text}`);
    this.told.push(`say ${id}: ${text}`);
    for (let each: Region | undefined = at; each !== undefined; each = each.parent) each.seen++;
  }

  #flow(at: Region, { goto, action }: NonNullable<Body["flow"]>): void {
    const from = at.list[at.pc]?.step.id ?? "";
    if (goto === undefined) {
      return action === "continue" ? void at.pc++ : this.#leave(at, action === "end" ? "end" : "repeat");
    }
    const to = this.#fill(at, goto);
    if (!this.isTarget(from, to)) return fail(at, `step "${from}": goto: `);
    this.#leave(at, { from, to });
  }

  #leave(at: Region, flow: Flow): void {
    if (flow === "end") at.state = { flow };
    else if (flow === "repeat") {
      const loops = around(at, at.pc);
      const last = loops.at(-1);
      if (last === undefined) at.state = { flow };
      else at.pc = at.list.findIndex(({ op, step }) => op === "begin" && step === last);
    } else this.#jump(at, flow);
  }

  #jump(at: Region, flow: Exclude<Flow, string>): void {
    const target = at.list.findIndex(({ op, step }) => op === "do" && step.id === flow.to);
    if (target === -1) return void (at.state = { flow });
    this.told.push(`jump ${flow.from} to ${flow.to}`);
    const left = around(at, at.pc);
    const entered = around(at, target).filter((chain) =>
      !left.includes(chain) || firstOf(chain).id === flow.to
    );
    for (const chain of entered) {
      if (this.#holds(at, chain)) continue;
      at.pc = behind(at, chain);
      return;
    }
    at.pc = target;
  }

  #combined(at: Region): void {
    const children = at.children ?? [];
    const seen = at.parent === undefined ? this.log.length : at.seen;
    const isNew = children.every(({ state, pc }) => state === "running" && pc === 0);
    for (const child of children) {
      child.seen = seen;
      if (isNew) this.#run(child);
      else if (child.state === "held") this.#resume(child);
    }
    const failed = children.find(({ state }) => state === "failed");
    if (failed !== undefined) fail(at, failed.error);
    else if (children.some(({ state }) => state === "held")) at.state = "held";
    else this.#join(at, children);
  }

  #join(at: Region, children: readonly Region[]): void {
    at.children = undefined;
    for (const { slots } of children) for (const [name, value] of slots) this.#write(at, name, value);
    const flows = children.flatMap(({ state }) => typeof state === "object" ? [state.flow] : []);
    const last = flows.at(-1);
    if (last === undefined) at.pc++;
    else this.#leave(at, last);
  }

  #write(at: Region, name: string, value: Json): void {
    at.slots.set(name, value);
    if (at.parent === undefined) this.told.push(`set conversation.${name} ${JSON.stringify(value)}`);
  }

  #slot(at: Region, name: string): Json | undefined {
    return at.slots.get(name) ?? (at.parent === undefined ? undefined : this.#slot(at.parent, name));
  }

  #fill(at: Region, text: string): string {
    return text.replaceAll(/\{\{(\w+)\}\}/g, (_whole, name: string) => String(this.#slot(at, name) ?? ""));
  }

  #value(at: Region, value: Json): Json {
    const name = typeof value === "string" ? /^\{\{(\w+)\}\}$/.exec(value)?.[1] : undefined;
    return name === undefined ? value : this.#slot(at, name) ?? "";
  }

  #holds(at: Region, { id, conditions = [] }: Body): boolean {
    const holds = conditions.every(({ name, condition }) => {
      const [[operator = "", limit = null] = []] = Object.entries(condition);
      const value = this.#slot(at, name);
      if (operator === "exists") return (value !== undefined) === limit;
      if (operator === "equals") return value !== undefined && String(value) === String(limit);
      if (operator === "not-equals") return value === undefined || String(value) !== String(limit);
      return value !== undefined && value !== "" && Number(value) < Number(limit);
    });
    if (!holds) this.told.push(`skip ${id}`);
    return holds;
  }

  /** Whether a jump from one step to another is one that the format allows. */
  isTarget(from: string, to: string): boolean {
    const [path, source] = [this.#paths.get(to), this.#paths.get(from)];
    if (path === undefined || source === undefined || path.at(-1)?.chain !== undefined) return false;
    return path.every((step, index) => {
      const branch = path[index + 1];
      return step.combined === undefined || branch === undefined || source.includes(branch);
    });
  }

  #addPaths(step: Body, above: readonly Body[]): void {
    const path = [...above, step];
    this.#paths.set(step.id, path);
    for (const inside of step.chain ?? step.combined ?? []) this.#addPaths(inside, path);
  }
}

/** What the model of both says. */
export function naiveReply(step: string, prompt: string, memory: number): string {
  return `${step} ${prompt} ${memory}`;
}

function region(root: Body, parent: Region | undefined): Region {
  const list: Instruction[] = [];
  const add = (step: Body): void => {
    if (step.chain === undefined) return void list.push({ op: "do", step });
    list.push({ op: "begin", step });
    step.chain.forEach(add);
    list.push({ op: "end", step });
  };
  add(root);
  return {
    list,
    parent,
    slots: new Map(),
    pc: 0,
    state: "running",
    children: undefined,
    isRetry: false,
    error: "",
    seen: 0,
  };
}

function fail(at: Region, error: string): void {
  at.state = "failed";
  at.error = error;
}

function behind({ list }: Region, chain: Body): number {
  return list.findIndex(({ op, step }) => op === "end" && step === chain) + 1;
}

/** The chains around an instruction, outermost first. */
function around({ list }: Region, at: number): readonly Body[] {
  const open: Body[] = [];
  for (const { op, step } of list.slice(0, at)) {
    if (op === "begin") open.push(step);
    else if (op === "end") open.pop();
  }
  return open;
}

function firstOf(step: Body): Body {
  const first = step.chain?.[0];
  return first === undefined ? step : firstOf(first);
}

function held(at: Region): readonly string[] {
  if (at.state !== "held") return [];
  return at.children === undefined ? [at.list[at.pc]?.step.id ?? ""] : at.children.flatMap(held);
}
