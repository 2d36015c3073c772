/// <reference lib="dom" />
// The page of a run: its texts, its calls, its document and its questions, as they come. Of a run that is over the same events come at once;
// how it ended, what it gave and its timeline stand on the page already.

import { resultText, thoughtWords } from "../render/shown_text.ts";
import { stateWord } from "../render/step_words.ts";
import { figuresLine } from "../render/run_tally.ts";
import { el, findAll, maybeFind } from "./dom.ts";
import { GraphView } from "./graph_view.ts";
import { tellConnection } from "./live.ts";
import { rowsOf, RowView } from "./row_view.ts";
import { RunFeed, showParts, showStatus, tellProblem } from "./run_feed.ts";
import { type BlockMerge, type OpenText, type RunState, stepName, type WholeText } from "./run_state.ts";
import { getJson, postJson } from "./server_calls.ts";
import { TextView } from "./text_view.ts";

/** How near to the end of the texts counts as there, px. */
const NEAR_PX = 24;

/** How long the server lets a question for the end of a run wait, s. */
const WAIT_S = 30;

/** Shows a part of what is known. */
type View = (state: RunState, now: number) => void;

class RunPage {
  readonly #path: string;
  readonly #feed: RunFeed;
  readonly #views = viewsOf();
  /** How it ended stands on the page. */
  readonly #wasOver: boolean;
  #isOver = false;
  #isAsked = false;
  #leave: () => void = () => {};

  constructor(id: string, { wasOver }: { readonly wasOver: boolean }) {
    this.#path = `/v1/runs/${encodeURIComponent(id)}`;
    this.#wasOver = this.#isOver = wasOver;
    this.#feed = new RunFeed({
      path: this.#path,
      show: () => this.#show(),
      isRunning: () => this.#state.status === "running" && !this.#isOver,
      isOver: () => this.#isOver,
      took: () => this.#took(),
      ended: () => void this.#lookAgain(),
    });
  }

  get #state(): RunState {
    return this.#feed.state;
  }

  follow(): void {
    this.#leave = this.#feed.follow();
  }

  #took(): void {
    const { asks, end } = this.#state;
    if (this.#wasOver) asks.clear();
    if (end?.status === "stopped") void this.#isItOver();
    else if (end !== undefined && !this.#wasOver) this.#end(end.status);
  }

  /** There is nothing to come behind it, and a stream that has ended would be opened again. */
  #end(status: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#leave();
    tellConnection("run", true);
    this.#state.asks.clear();
    this.#feed.due();
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
    this.#feed.isLost = true;
    showEnd("not known");
    this.#feed.due();
  }

  #show(): void {
    const state = this.#state;
    const { now, isLost } = this.#feed;
    if (!this.#isOver) {
      const asks = { length: state.asks.size };
      showStatus(isLost ? "not known" : stateWord({ status: state.status, asks }));
    }
    for (const tally of this.#wasOver ? [] : findAll("[data-run-tally]")) {
      tally.textContent = figuresLine(state.rows.tally, now);
    }
    for (const view of this.#views) view(state, now);
    showResult(state);
    if (this.#wasOver && state.end !== undefined) {
      maybeFind("[data-run-late]")?.removeAttribute("data-run-late");
    }
  }
}

/** Those of the parts that the page has; a part is hidden until there is something in it. */
function viewsOf(): readonly View[] {
  const view = (
    name: string,
    isUsed: (state: RunState) => boolean,
    make: (root: HTMLElement) => { update(state: RunState, now: number): void },
  ): readonly View[] => {
    const section = maybeFind(`[data-run-part="${name}"]`);
    const root = section && maybeFind("[data-run-view]", HTMLElement, section);
    if (section === undefined || root === undefined) return [];
    const made = make(root);
    return [(state, now) => {
      if (!isUsed(state)) return;
      section.hidden = name === "text" && isResultAlone(state);
      made.update(state, now);
    }];
  };
  return [
    ...view(
      "text",
      ({ texts, open }) => texts.length + open.size > 0,
      (root) =>
        new TextView(root, {
          takes: () => true,
          wordsOf,
          make: saidArticle,
          ended: sumUp,
          nearPx: NEAR_PX,
        }),
    ),
    ...view("graph", ({ rows }) => rows.calls.length > 0, (root) => new GraphView(root)),
    ...view("rows", (state) => rowsOf(state).length > 0, (root) => new RowView(root)),
    ...view(
      "document",
      ({ merges }) => merges.length > 0,
      (root) => newest(root, { of: ({ merges }) => merges, make: mergeArticle, most: 200 }),
    ),
    ...view("notes", ({ notes }) => notes.length > 0, (root) =>
      newest(root, {
        of: ({ notes }) => notes,
        make: ({ kind, text }) => el("li", {}, el("span", { class: "badge" }, kind), " ", text),
        most: 500,
      })),
  ];
}

/** What comes one behind the other; the last of it are shown, so many. */
function newest<T>(root: HTMLElement, { of, make, most }: {
  of(state: RunState): readonly T[];
  make(each: T, state: RunState): HTMLElement;
  readonly most: number;
}): { update(state: RunState): void } {
  let shown = 0;
  return {
    update(state) {
      const all = of(state);
      root.append(...all.slice(Math.max(shown, all.length - most)).map((each) => make(each, state)));
      shown = all.length;
      while (root.childElementCount > most) root.firstElementChild?.remove();
    },
  };
}

/** What an operation has put into a document, and where. */
function mergeArticle({ step, mode, target, removed, inserted }: BlockMerge, state: RunState): HTMLElement {
  const name = stepName(step, state);
  const where = mode === "append" ? "to" : mode === "prepend" ? "before" : "in place of";
  return el(
    "article",
    { class: "merge", "data-mode": mode },
    el(
      "h3",
      {},
      el("span", { "aria-hidden": "true" }, mode === "replace" ? "~ " : "+ "),
      name,
      el("span", { class: "soft" }, ` ${where} ${target ?? "itself"}`),
    ),
    removed !== "" && mode === "replace" && el(
      "details",
      {},
      el("summary", {}, "What stood there"),
      el("pre", { class: "block wrap removed", tabindex: 0 }, removed),
    ),
    el("pre", { class: "block wrap", tabindex: 0, role: "group", "aria-label": name }, inserted),
  );
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
function saidArticle(words: Text, { step, isThought }: OpenText, state: RunState): HTMLElement {
  if (isThought) {
    return el(
      "details",
      { class: "said fold" },
      el("summary", {}, "thinking\u2026"),
      el("div", { class: "said-text" }, words),
    );
  }
  return el(
    "article",
    { class: "said" },
    step !== SOURCE && el("h3", {}, stepName(step, state)),
    el("div", { class: "said-text" }, words),
  );
}

/** A thought says how long it was. */
function sumUp(element: HTMLElement, { step, text, isThought }: WholeText, { rows }: RunState): void {
  const summary = isThought && maybeFind("summary", HTMLElement, element);
  if (!summary) return;
  summary.textContent = thoughtWords({ characters: text.length, ms: rows.byKey.get(step)?.thought?.ms });
}

/** Where calls stood are empty lines, one for each of theirs. */
function wordsOf(step: string, text: string): string {
  return step === SOURCE ? text.replace(/\n{3,}/g, "\n\n").trimEnd() : text;
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
