/// <reference lib="dom" />
// The page of a run: its texts, its calls, its document and its questions, as they come. Of a run that is over the same events come at once;
// how it ended, what it gave and its timeline stand on the page already.

import { resultText } from "../render/shown_text.ts";
import { stateWord } from "../render/step_words.ts";
import { figuresLine } from "../render/run_tally.ts";
import { AskPanel } from "./ask_panel.ts";
import { DocumentView } from "./document_view.ts";
import { tellConnection } from "./live.ts";
import { el, findAll, maybeFind } from "./dom.ts";
import { followEvents } from "./event_feed.ts";
import { FrameLoop } from "./frame_loop.ts";
import { GraphView } from "./graph_view.ts";
import { rowsOf, RowView } from "./row_view.ts";
import { RunClock } from "./run_clock.ts";
import { RunState } from "./run_state.ts";
import { showParts, showStatus } from "./run_status.ts";
import { getJson, postJson } from "./server_calls.ts";
import { stepName } from "./step_name.ts";
import { TextView } from "./text_view.ts";

/** How long the server lets a question for the end of a run wait, s. */
const WAIT_S = 30;

/** A part of the page with what shows it. */
interface View {
  readonly section: HTMLElement;
  update(state: RunState, now: number): void;
  readonly isUsed: (state: RunState) => boolean;
}

class RunPage {
  readonly #path: string;
  readonly #state = new RunState();
  readonly #clock = new RunClock();
  readonly #loop = new FrameLoop(() => this.#show(), { isTicking: () => this.#isRunning });
  readonly #views: readonly View[];
  /** How it ended stands on the page. */
  readonly #wasOver: boolean;
  #isOver = false;
  #isLost = false;
  #isAsked = false;
  #leave: () => void = () => {};

  constructor(id: string, { wasOver }: { readonly wasOver: boolean }) {
    this.#path = `/v1/runs/${encodeURIComponent(id)}`;
    this.#views = viewsOf(id);
    this.#wasOver = wasOver;
    this.#isOver = wasOver;
  }

  follow(): void {
    this.#leave = followEvents(`${this.#path}/events`, {
      take: (frame) => {
        if (!this.#state.take(frame)) return;
        this.#clock.set(this.#state.at);
        if (this.#wasOver) this.#state.asks.clear();
        this.#loop.due();
        const { end } = this.#state;
        if (end?.status === "stopped") void this.#isItOver();
        else if (end !== undefined && !this.#wasOver) this.#end(end.status);
      },
      connected: (isConnected) => {
        if (!isConnected && this.#isRunning) this.#clock.stop();
        this.#isLost = !isConnected;
        tellConnection("run", isConnected || this.#isOver);
        this.#loop.due();
      },
      over: () => void this.#lookAgain(),
    });
  }

  /** As far as anybody here knows. */
  get #isRunning(): boolean {
    return this.#state.status === "running" && !this.#isOver && !this.#isLost;
  }

  /** There is nothing to come behind it, and a stream that has ended would be opened again. */
  #end(status: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#leave();
    tellConnection("run", true);
    this.#state.asks.clear();
    this.#loop.due();
    this.#state.stand(false);
    showEnd(status);
    if (status === "failed") void this.#canItGoOn();
  }

  /** What has failed at the end may be done again: then the server has it as stopped. */
  async #canItGoOn(): Promise<void> {
    const answer = await getJson(`${this.#path}?wait=${WAIT_S}`);
    if (answer.ok) showParts(String(answer.value.status));
  }

  /** A run that was stopped may have been resumed since: the server knows it, and answers at the latest when it has ended. */
  async #isItOver(): Promise<void> {
    if (this.#isOver || this.#isAsked) return;
    this.#isAsked = true;
    while (!this.#isOver && this.#state.end?.status === "stopped") {
      const answer = await getJson(`${this.#path}?wait=${WAIT_S}`);
      if (!answer.ok) break;
      const { status } = answer.value;
      if (typeof status === "string" && status !== "running") this.#end(status);
    }
    this.#isAsked = false;
  }

  /** The stream has ended without the end of the run: the server knows how it stands. */
  async #lookAgain(): Promise<void> {
    if (this.#isOver) return;
    const answer = await getJson(this.#path);
    if (!answer.ok && answer.status === 401) return this.#loseSight();
    if (!answer.ok) return tellProblem(answer.problem);
    const { status, error } = answer.value;
    if (status === "running") {
      return tellProblem("The run goes on, and nothing more comes of it here: load the page again");
    }
    if (typeof status === "string") this.#end(status);
    if (typeof error === "string") tellProblem(error);
  }

  /** It may go on, or not: nobody here is told any more. */
  #loseSight(): void {
    this.#isLost = true;
    showEnd("not known");
    this.#loop.due();
  }

  #show(): void {
    const state = this.#state;
    const now = this.#clock.at({ isRunning: this.#isRunning });
    if (!this.#isOver) {
      const asks = { length: state.asks.size };
      showStatus(this.#isLost ? "not known" : stateWord({ status: state.status, asks }));
    }
    for (const tally of this.#wasOver ? [] : findAll("[data-run-tally]")) {
      tally.textContent = figuresLine(state.rows.tally, now);
    }
    for (const view of this.#views) {
      if (!view.isUsed(state)) continue;
      view.section.hidden = false;
      view.update(state, now);
    }
    showResult(state);
    if (this.#wasOver && state.end !== undefined) {
      maybeFind("[data-run-late]")?.removeAttribute("data-run-late");
    }
  }
}

function viewsOf(id: string): readonly View[] {
  const views: View[] = [];
  const add = (
    name: string,
    isUsed: View["isUsed"],
    make: (root: HTMLElement) => { update(state: RunState, now: number): void },
  ): void => {
    const section = maybeFind(`[data-run-part="${name}"]`);
    const root = section && maybeFind("[data-run-view]", HTMLElement, section);
    if (section === undefined || root === undefined) return;
    const view = make(root);
    views.push({ section, isUsed, update: (state, now) => view.update(state, now) });
  };
  add("asks", () => true, (root) => {
    const panel = new AskPanel(root, { run: id });
    return { update: ({ asks }) => panel.update(asks) };
  });
  add("text", (state) => state.texts.length + state.open.size > 0, (root) => {
    const texts = new TextView(root, { titleOf, wordsOf });
    return {
      update: (state) => {
        texts.update(state);
        root.parentElement?.toggleAttribute("hidden", isResultAlone(state));
      },
    };
  });
  add("graph", ({ rows }) => rows.calls.length > 0, (root) => new GraphView(root));
  add("rows", (state) => rowsOf(state).length > 0, (root) => new RowView(root));
  add("document", ({ merges }) => merges.length > 0, (root) => new DocumentView(root));
  add("notes", ({ notes }) => notes.length > 0, (root) => new NoteView(root));
  return views;
}

/** What it said is what it gave, and stands there already. */
function isResultAlone({ texts, open, end }: RunState): boolean {
  if (end?.value === undefined || open.size > 0) return false;
  const said = texts.filter(({ text }) => text.trim() !== "");
  const [only] = said;
  return said.length === 1 && only?.text.trim() === resultText(end.value).trim();
}

/** The step of the text between the calls of a file. */
const SOURCE = "source";

/** The text between the calls is nobody's answer, and needs no name. */
function titleOf(step: string, state: RunState): string {
  return step === SOURCE ? "" : stepName(step, state);
}

/** Where calls stood are empty lines, one for each of theirs. */
function wordsOf(step: string, text: string): string {
  return step === SOURCE ? text.replace(/\n{3,}/g, "\n\n").trimEnd() : text;
}

/** Warnings, jumps and what was left out. */
class NoteView {
  readonly #root: HTMLElement;
  #shown = 0;

  constructor(root: HTMLElement) {
    this.#root = root;
  }

  update({ notes }: RunState): void {
    if (notes.length === this.#shown) return;
    this.#shown = notes.length;
    this.#root.replaceChildren(
      ...notes.map(({ kind, text }) => el("li", {}, el("span", { class: "badge" }, kind), " ", text)),
    );
  }
}

/** What can be done with a run depends on how it stands. */
function showEnd(status: string): void {
  showStatus(stateWord({ status }));
  showParts(status);
}

function showResult({ end }: RunState): void {
  const section = maybeFind('[data-run-part="result"]');
  if (end === undefined || section === undefined) return;
  const { value, error, document: whole } = end;
  if (error !== undefined) tellProblem(error);
  if (value === undefined || value === null || value === "") return;
  const view = maybeFind("[data-run-view]", HTMLElement, section);
  section.hidden = false;
  if (view !== undefined) view.textContent = resultText(value);
  const copy = maybeFind("[data-run-document]", HTMLElement, section);
  if (copy === undefined || whole === undefined) return;
  copy.hidden = false;
  const text = maybeFind("pre", HTMLElement, copy);
  if (text !== undefined) text.textContent = whole;
}

function tellProblem(text: string): void {
  const note = maybeFind("[data-run-problem]");
  if (note === undefined) return;
  note.hidden = false;
  note.textContent = text;
}

/** Buttons that send something, and then look at the run as it is by then. */
function startButtons(id: string): void {
  const path = `/v1/runs/${encodeURIComponent(id)}`;
  for (const button of findAll("button[data-run-do]", HTMLButtonElement)) {
    button.addEventListener("click", () => void press(button, path));
  }
}

async function press(button: HTMLButtonElement, path: string): Promise<void> {
  const isCancel = button.dataset.runDo === "cancel";
  button.disabled = true;
  const answer = await postJson(
    `${path}/${isCancel ? "cancel" : "resume"}`,
    isCancel ? {} : resumeBody(button),
  );
  if (answer.ok) return isCancel ? undefined : location.reload();
  button.disabled = false;
  tellProblem(answer.problem);
  const settle = maybeFind("[data-run-settle]");
  if (settle !== undefined && answer.code === "unverified") settle.hidden = false;
}

/** Steps whose end nobody knows are done again, or left out, as the button says. */
function resumeBody({ dataset: { runSteps } }: HTMLButtonElement): unknown {
  return runSteps === "rerun" || runSteps === "skip" ? { ask: true, [runSteps]: ["all"] } : { ask: true };
}

const page = maybeFind("[data-run-page]");
const id = page?.dataset.runPage ?? "";
if (id !== "") {
  startButtons(id);
  const follow = page?.dataset.runFollow;
  if (follow !== undefined) new RunPage(id, { wasOver: follow === "ended" }).follow();
}
