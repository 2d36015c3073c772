// A run as a page knows it: what came over the wire so far. However the stream was cut, and how often the reader came again, the same events
// make the same state.
import type { RunEvent, RunKind, RunStatus } from "../core/event.ts";
import { createRows, isNested, nameWords, thoughtIn } from "../render/rows.ts";
import { placeWords } from "../render/step_words.ts";
import { OwnTexts } from "../render/turn_texts.ts";

/** Something that waits for a person, as the server tells it. */
export interface PageAsk {
  readonly ask: string;
  readonly question: string;
}

/** What comes over the wire. */
export type PageFrame =
  | { readonly event: RunEvent }
  | { readonly ask: PageAsk }
  | { readonly answered: string }
  /** Events up to this `seq` are not held any more. */
  | { readonly gap: number };

/** A whole text: of a model, of a command, or what a conversation says. */
export interface WholeText {
  readonly step: string;
  /** Which of its step, from 1; of a conversation the place in its log; 0: its step ended without having said it whole. */
  readonly n: number;
  readonly text: string;
  /** Whether a conversation says it, and not something inside of one of its steps. */
  readonly isOwn: boolean;
  /** What a model thought before it answered. */
  readonly isThought?: true;
}

/** Something to be told beside all that. */
export interface RunNote {
  readonly at: number;
  readonly kind: "warning" | "jump" | "skip" | "permission" | "gap";
  readonly text: string;
}

/** How a document has changed. */
export type BlockMerge = Extract<RunEvent, { readonly type: "block-merge" }>;

/** How a run has ended. */
export type RunEnd = Extract<RunEvent, { readonly type: "run-end" }>;

/** A text that is on its way. */
export type OpenText = Omit<WholeText, "n">;

/** Of a step there may be two: what a model thinks, and its answer. */
export function textKey({ step, isThought }: Pick<WholeText, "step" | "isThought">): string {
  return isThought ? `${step} thought` : step;
}

/** Everything a page knows of a run. */
export class RunState {
  run: string | undefined;
  kind: RunKind | undefined;
  /** `waiting` until the first event. */
  status: "waiting" | "running" | RunStatus = "waiting";
  lastSeq = 0;
  /** ms since the start of the run: of the newest event. */
  at = 0;
  readonly rows = createRows();
  /** In the order in which they were complete. */
  readonly texts: WholeText[] = [];
  /** By `textKey`. */
  readonly open = new Map<string, OpenText>();
  readonly merges: BlockMerge[] = [];
  readonly notes: RunNote[] = [];
  /** By number. */
  readonly asks = new Map<string, PageAsk>();
  end: RunEnd | undefined;
  readonly #own = new OwnTexts();
  /** Steps whose thoughts were told as they came. */
  readonly #thought = new Set<string>();

  /** Takes what came. @returns whether anything of it is new */
  take(frame: PageFrame): boolean {
    if ("event" in frame) return this.#takeEvent(frame.event);
    if ("ask" in frame) return this.#ask(frame.ask);
    if ("answered" in frame) return this.asks.delete(frame.answered);
    if (frame.gap <= this.lastSeq) return false;
    this.#note("gap", `What came before event ${frame.gap} is not held any more`);
    this.lastSeq = frame.gap;
    return true;
  }

  /** Whoever comes again is asked again. */
  #ask(ask: PageAsk): boolean {
    if (this.asks.has(ask.ask)) return false;
    this.asks.set(ask.ask, ask);
    return true;
  }

  #takeEvent(event: RunEvent): boolean {
    if (event.seq <= this.lastSeq) return false;
    this.lastSeq = event.seq;
    this.at = event.at;
    this.run = event.run;
    if (this.end !== undefined && event.type !== "run-end") this.#goOn();
    const isOwn = this.#own.isOwn(event);
    if (event.type === "text-delta") {
      this.#close(textKey({ ...event, isThought: true }));
      this.#grow({ ...event, isOwn });
    } else {
      this.rows.take(event);
      this.#change(event, isOwn);
    }
    return true;
  }

  #change(event: Exclude<RunEvent, { readonly type: "text-delta" }>, isOwn: boolean): void {
    switch (event.type) {
      case "run-start":
        return this.#begin(event);
      case "run-end":
        this.status = event.status;
        this.end = event;
        return;
      case "step-start":
        return this.#beginStep(event);
      case "step-end":
        return this.#endStep(event);
      case "reasoning-delta":
        this.#thought.add(event.step);
        return this.#grow({ ...event, isOwn: false, isThought: true });
      case "message":
        this.open.delete(event.step);
        this.texts.push({ step: event.step, n: event.n, text: event.text, isOwn });
        return;
      case "block-merge":
        this.merges.push(event);
        return;
      case "jump":
        return this.#note("jump", `${event.from} \u2192 ${event.to}`);
      case "step-skip":
        return this.#note("skip", `${event.name ?? event.step}: ${event.condition}`);
      case "warning":
        return this.#note(
          "warning",
          [placeWords(event), event.text].filter((text) => text !== "").join(": "),
        );
      case "permission-answer":
        return this.#note(
          "permission",
          `${event.subject}: ${event.allowed ? "allowed" : "refused"} (${event.reason})`,
        );
    }
  }

  /** The server says whether it runs: one that was killed has told no end. */
  stand(isRunning: boolean): void {
    if (!isRunning && this.status === "running") this.status = "stopped";
  }

  /** What was stopped can be resumed. */
  #goOn(): void {
    this.end = undefined;
    this.status = "running";
  }

  #begin({ kind }: Extract<RunEvent, { readonly type: "run-start" }>): void {
    this.kind = kind;
    this.status = "running";
  }

  /** One that begins again after a restart voids what it had said. */
  #beginStep({ key, kind, name }: Extract<RunEvent, { readonly type: "step-start" }>): void {
    this.open.delete(key);
    this.open.delete(textKey({ step: key, isThought: true }));
    this.#thought.delete(key);
    if (kind !== "step") return;
    this.open.delete(name);
  }

  /** A conversation's texts say by its name whose they are. */
  #endStep({ key, outcome }: Extract<RunEvent, { readonly type: "step-end" }>): void {
    this.#close(key);
    this.#close(textKey({ step: key, isThought: true }));
    const row = this.rows.byKey.get(key);
    const thought = row?.kind === "model" && !this.#thought.has(key) ? thoughtIn(outcome) : "";
    if (thought !== "") this.texts.push({ step: key, n: 0, text: thought, isOwn: false, isThought: true });
    if (row?.kind === "step") this.#close(row.name);
  }

  /** A command says what it says without a message at the end, and so does a model that was cut off. */
  #close(key: string): void {
    const open = this.open.get(key);
    if (open === undefined) return;
    this.open.delete(key);
    this.texts.push({ ...open, n: 0 });
  }

  #grow({ step, text, isOwn, isThought }: OpenText): void {
    const key = textKey({ step, isThought });
    const before = this.open.get(key);
    this.open.set(key, { step, text: (before?.text ?? "") + text, isOwn: before?.isOwn ?? isOwn, isThought });
  }

  #note(kind: RunNote["kind"], text: string): void {
    this.notes.push({ at: this.at, kind, text });
  }
}

/** What a person calls the step of a text: the operation that it lies in, and the tool; else the key that it has. */
export function stepName(step: string, { rows }: RunState): string {
  const inside = rows.all.findLast((row) =>
    isNested(row) && row.call === undefined && (step === row.key || step.startsWith(`${row.key}/`))
  );
  const call = /\/call:([^/]+)$/.exec(step)?.[1];
  const name = (inside && nameWords(inside)) ?? partWords(step.replace(/\/model$/, ""));
  return call === undefined || inside === undefined ? name : `${name}, tool ${call}`;
}

/** `dialog[1]/turn[2]` is `turn 2`; of a later dialog also which. */
function partWords(key: string): string {
  const [, dialog, turn] = /^dialog\[(\d+)\]\/turn\[(\d+)\]$/.exec(key) ?? [];
  if (dialog === undefined || turn === undefined) return key;
  return dialog === "1" ? `turn ${turn}` : `dialog ${dialog}, turn ${turn}`;
}
