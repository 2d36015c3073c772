/// <reference lib="dom" />
/// <reference lib="dom.iterable" />

// The keyboard, on every page. Keys are single letters, and never taken from whoever is typing or holds Ctrl, Alt or the like.

import { el, findAll, isTyping, maybeFind } from "./dom.ts";
import { switchTheme } from "./theme.ts";

/** Behind `g`. */
const PLACES: Readonly<Record<string, readonly [path: string, words: string]>> = {
  o: ["/", "Overview"],
  a: ["/agents", "Agents"],
  d: ["/documents", "Documents"],
  p: ["/prompts", "Prompts"],
  t: ["/gadgets", "Gadgets (tools)"],
  m: ["/models", "Models"],
  r: ["/runs", "Runs"],
  q: ["/asks", "Questions"],
};

/** How long `g` waits for the letter behind it. */
const SECOND_KEY_MS = 1500;

let isSecond = false;
let timer: ReturnType<typeof setTimeout> | undefined;

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  if (isTyping(event.target)) return leaveField(event);
  if (document.querySelector("dialog[open]") !== null) return;
  if (isSecond) return goTo(event);
  const act = KEYS[event.key];
  if (act === undefined) return;
  event.preventDefault();
  act();
});

/** What can be filled in, or pressed, of the form that runs something. */
const FORM_FIELDS = "textarea, input:not([type=hidden]), select, button".split(", ")
  .map((field) => `[data-run-form] ${field}`).join(", ");

const KEYS: Readonly<Record<string, () => void>> = {
  "/": () => maybeFind("[data-search]", HTMLInputElement)?.select(),
  "?": showKeys,
  g: () => {
    isSecond = true;
    timer = setTimeout(() => isSecond = false, SECOND_KEY_MS);
  },
  t: switchTheme,
  j: () => step(1),
  k: () => step(-1),
  r: () => maybeFind(FORM_FIELDS)?.focus(),
};

function goTo(event: KeyboardEvent): void {
  isSecond = false;
  clearTimeout(timer);
  const place = PLACES[event.key];
  if (place === undefined) return;
  event.preventDefault();
  location.assign(place[0]);
}

/** Esc leaves a field, so that the keys work again; first it empties the search. */
function leaveField(event: KeyboardEvent): void {
  if (event.key !== "Escape" || !(event.target instanceof HTMLElement)) return;
  const { target } = event;
  if (target instanceof HTMLInputElement && target.matches("[data-search]") && target.value !== "") {
    target.value = "";
    target.dispatchEvent(new Event("input", { bubbles: true }));
  } else target.blur();
}

/** Walks over the rows of the lists, or whatever else says `data-row`: the link of a row gets the focus. */
function step(by: 1 | -1): void {
  const links = findAll("[data-row]:not([hidden]) a[href]", HTMLAnchorElement)
    .filter((link) => link.closest("[data-row]")?.querySelector("a[href]") === link);
  if (links.length === 0) return;
  const row = document.activeElement?.closest("[data-row]");
  const at = links.findIndex((link) => row !== null && row !== undefined && row.contains(link));
  const next =
    links[at < 0 ? (by > 0 ? 0 : links.length - 1) : Math.min(links.length - 1, Math.max(0, at + by))];
  next?.focus();
  next?.closest("[data-row]")?.scrollIntoView({ block: "nearest" });
}

/** Keys of `trace_view`. */
const TRACE_ROWS: readonly (readonly [keys: readonly string[], words: string])[] = [
  [["o"], "Open or close a line of the timeline"],
  [["h"], "Close it, then fold it"],
  [["l"], "Unfold it, then open it"],
];

let dialog: HTMLDialogElement | undefined;

function showKeys(): void {
  dialog ??= keysDialog();
  dialog.showModal();
}

function keysDialog(): HTMLDialogElement {
  const rows: readonly (readonly [keys: readonly string[], words: string])[] = [
    [["/"], "Search on this page"],
    [["j"], "Next row"],
    [["k"], "Row before"],
    [["Enter"], "Open it"],
    [["r"], "To the form that runs it"],
    [["Ctrl", "Enter"], "Run what the form says"],
    ...(document.querySelector("[data-trace]") === null ? [] : TRACE_ROWS),
    ...Object.entries(PLACES).map(([key, [, words]]) => [["g", key], words] as const),
    [["t"], "Light or dark"],
    [["Esc"], "Leave a field, or close this"],
    [["?"], "This list"],
  ];
  const list = el("dl", { class: "keys" });
  for (const [keys, words] of rows) {
    const shown = el("dt");
    for (const key of keys) shown.append(el("kbd", {}, key), " ");
    list.append(shown, el("dd", {}, words));
  }
  const made = el(
    "dialog",
    { "aria-labelledby": "keys-title" },
    el("h2", { id: "keys-title" }, "Keys"),
    list,
    el("form", { method: "dialog" }, el("button", { class: "main" }, "Close")),
  );
  document.body.append(made);
  return made;
}

/** On a phone the sections are a row that is scrolled: the one that is shown has to be in sight. With `scrollIntoView` the first Tab would begin behind it. */
function showSection(): void {
  const here = maybeFind(".rail [aria-current]");
  const row = here?.closest("nav");
  if (here === undefined || row === null || row === undefined) return;
  const { left, width } = here.getBoundingClientRect();
  const around = row.getBoundingClientRect();
  row.scrollLeft += left + width / 2 - (around.left + around.width / 2);
}

showSection();

for (const button of findAll("[data-keys]", HTMLButtonElement)) {
  button.hidden = false;
  button.title = "Show the keys (?)";
  button.addEventListener("click", showKeys);
}
