/// <reference lib="dom" />
// Questions of a run to a person: a permission to give or to refuse, or something that only they know. They stand on the page, and take the
// focus only from somebody who does nothing else. A key that was meant for something else must never answer one: the focus is on the card and
// never on a button of it, and at first no button counts.

import { el, findAll, maybeFind } from "./dom.ts";
import type { PageAsk } from "./run_state.ts";
import { postJson } from "./server_calls.ts";

/** A question as the server takes an answer to it. */
type AnswerBody = { readonly ask: string } & ({ readonly allow: boolean } | { readonly text: string });

/** What is pressed as a question comes, or moves to where another one stood, was not meant for it; ms. */
const HOLD_MS = 500;

/** The questions that are open, in an element. */
export class AskPanel {
  readonly #root: HTMLElement;
  readonly #run: string;
  readonly #cards = new Map<string, HTMLElement>();

  /** @param options.run whose questions they are */
  constructor(root: HTMLElement, { run }: { readonly run: string }) {
    this.#root = root;
    this.#run = run;
  }

  update(asks: ReadonlyMap<string, PageAsk>): void {
    for (const [id, card] of this.#cards) {
      if (asks.has(id)) continue;
      const hadFocus = card.contains(document.activeElement);
      card.remove();
      this.#cards.delete(id);
      this.#cards.forEach(hold);
      if (hadFocus) maybeFind("main")?.focus();
    }
    this.#root.hidden = asks.size === 0; // before any of them takes the focus: what is hidden cannot
    for (const ask of asks.values()) {
      if (this.#cards.has(ask.ask)) continue;
      const card = askCard(ask);
      startCard(card, { run: this.#run, ask: ask.ask });
      this.#cards.set(ask.ask, card);
      this.#root.append(card);
      focusCard(card);
    }
  }
}

/** Nobody's typing is interrupted. */
function focusCard(card: HTMLElement): void {
  const { activeElement } = document;
  const isIdle = activeElement === null || activeElement === document.body || activeElement.id === "main";
  if (isIdle) card.focus();
}

const holds = new WeakMap<HTMLElement, ReturnType<typeof setTimeout>>();

/** What is inert is not reached by a key, and a press that begins on it is none when it ends later. */
function hold(card: HTMLElement): void {
  const buttons = findAll("button", HTMLButtonElement, card).filter((button) =>
    button !== document.activeElement
  );
  const set = (isHeld: boolean): void => buttons.forEach((button) => button.inert = isHeld);
  set(true);
  clearTimeout(holds.get(card));
  holds.set(card, setTimeout(() => set(false), HOLD_MS));
}

/** The same as the server makes on the page of all questions. */
function askCard({ ask, kind, subject, permissions = [], question, choices }: PageAsk): HTMLElement {
  const heading = kind === "permission" ? "May it?" : "A question";
  return el(
    "form",
    { class: "ask", "data-ask": ask, role: "alert" },
    el("h2", {}, heading),
    el("p", { class: "ask-question" }, question),
    kind === "permission" && subject !== undefined &&
      el("p", { class: "soft small" }, "For ", el("code", {}, subject)),
    permissions.length > 0 &&
      el(
        "p",
        { class: "soft small" },
        "Not asked about with ",
        ...permissions.map((flag) => el("code", {}, flag)),
      ),
    kind === "permission" ? allowButtons() : answerField(ask, choices),
    el("p", { class: "wrong", "data-ask-problem": true, role: "status" }),
  );
}

function allowButtons(): HTMLElement {
  return el(
    "div",
    { class: "submit" },
    el("button", { type: "submit", class: "main", name: "allow", value: "yes" }, "Allow"),
    el("button", { type: "submit", name: "allow", value: "no" }, "Refuse"),
  );
}

function answerField(ask: string, choices: readonly string[] | undefined): HTMLElement {
  if (choices !== undefined && choices.length > 0) {
    const buttons = choices.map((text) => el("button", { type: "submit", name: "text", value: text }, text));
    return el("div", { class: "submit" }, ...buttons);
  }
  const id = `answer-${ask}`;
  return el(
    "div",
    { class: "field" },
    el("label", { for: id }, "Your answer"),
    el("textarea", { id, name: "text", rows: 2, required: true }),
    el("div", { class: "submit" }, el("button", { type: "submit", class: "main" }, "Answer")),
  );
}

/** Sends what its buttons and its field say. */
function startCard(card: HTMLElement, { run, ask }: { readonly run: string; readonly ask: string }): void {
  card.tabIndex = -1;
  hold(card);
  card.addEventListener("submit", (event) => {
    event.preventDefault();
    const button = event.submitter instanceof HTMLButtonElement ? event.submitter : undefined;
    const typed = maybeFind("textarea[name=text]", HTMLTextAreaElement, card)?.value ?? "";
    const body: AnswerBody = button?.name === "allow"
      ? { ask, allow: button.value === "yes" }
      : { ask, text: button?.name === "text" ? button.value : typed };
    void send(card, { run, body });
  });
}

async function send(
  card: HTMLElement,
  { run, body }: { readonly run: string; readonly body: AnswerBody },
): Promise<void> {
  const controls = findAll("button, textarea", HTMLElement, card);
  for (const each of controls) each.toggleAttribute("disabled", true);
  const answer = await postJson(`/v1/runs/${encodeURIComponent(run)}/answers`, body);
  if (answer.ok) {
    card.dataset.answered = "";
    card.dispatchEvent(new CustomEvent("answered", { bubbles: true }));
    return;
  }
  for (const each of controls) each.toggleAttribute("disabled", false);
  for (const told of findAll("[data-ask-problem]", HTMLElement, card)) told.textContent = answer.problem;
}

/** Those that the server has put on the page of all questions: an answered one goes. */
function startCards(): void {
  const cards = findAll("form[data-ask][data-ask-run]", HTMLFormElement);
  cards.forEach(hold); // some may have moved
  for (const card of cards) {
    if (card.hasAttribute("tabindex")) continue; // begun already
    startCard(card, { run: card.dataset.askRun ?? "", ask: card.dataset.ask ?? "" });
    card.addEventListener("answered", () => {
      card.remove();
      const rest = findAll("form[data-ask]");
      rest.forEach(hold);
      const [next] = rest;
      (next ?? maybeFind("main"))?.focus();
      for (const empty of findAll("[data-no-asks]")) empty.hidden = next !== undefined;
    });
  }
}

startCards();
document.addEventListener("live", startCards);
