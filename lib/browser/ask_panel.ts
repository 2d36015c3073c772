/// <reference lib="dom" />
// Questions of a run to a person: a permission to give or to refuse, or something that only they know. The server makes them, for the page of
// all questions; other pages take theirs from there (`live`). They take the focus only from somebody who does nothing else. A key that was
// meant for something else must never answer one: the focus is on the card and never on a button of it, and at first no button counts.

import { findAll, maybeFind } from "./dom.ts";
import { postJson } from "./server_calls.ts";

/** A question as the server takes an answer to it. */
type AnswerBody = { readonly ask: string } & ({ readonly allow: boolean } | { readonly text: string });

/** What is pressed as a question comes, or moves to where another one stood, was not meant for it; ms. */
const HOLD_MS = 500;

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

/** Sends what its buttons and its field say. */
function startCard(card: HTMLElement): void {
  const { askRun: run = "", ask = "" } = card.dataset;
  card.tabIndex = -1;
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
    card.remove();
    const rest = findAll("form[data-ask]");
    rest.forEach(hold);
    const [next] = rest;
    (next ?? maybeFind("main"))?.focus();
    for (const empty of findAll("[data-no-asks]")) empty.hidden = next !== undefined;
    return;
  }
  for (const each of controls) each.toggleAttribute("disabled", false);
  for (const told of findAll("[data-ask-problem]", HTMLElement, card)) told.textContent = answer.problem;
}

/** Those that are there now: what has come is inert before anybody can see it. */
export function startCards(): void {
  const cards = findAll("form[data-ask]");
  cards.forEach(hold); // some may have moved
  for (const card of cards) {
    if (card.hasAttribute("tabindex")) continue; // begun already
    startCard(card);
    if (document.body.dataset.asksOf !== "all") focusCard(card);
  }
}

startCards();
