/// <reference lib="dom" />

// What goes on in the project, on every page: questions that wait, what runs, and lists of runs as they are now. Of all pages that a browser
// has open one follows the events and tells the others: a server has six connections for a browser, and each page that follows keeps one.

import { isRecord } from "../core/json.ts";
import { startCards } from "./ask_panel.ts";
import { el, findAll, maybeFind } from "./dom.ts";
import type { PageAsk } from "./run_state.ts";
import { getJson } from "./server_calls.ts";

/** A run that waits for a person. */
interface WaitingRun {
  readonly id: string;
  readonly kind: string;
  readonly asks: readonly PageAsk[];
}

/** As the server tells it. */
interface ProjectNow {
  readonly server: string;
  readonly version: number;
  readonly active: number;
  readonly waiting: readonly WaitingRun[];
}

/** How soon it is looked again whether the server is there, ms. */
const AGAIN_MS = 2_000;

/** Runs of other processes are told by nobody: lists are looked at again, ms. */
const LOOK_MS = 5_000;

const channel = new BroadcastChannel("orrery");
let last: ProjectNow | undefined;
/** What is told by the page that follows; the others hear it. */
let said: unknown;

function follow(): Promise<never> {
  const source = new EventSource("/v1/events");
  source.addEventListener("project", ({ data }: MessageEvent<unknown>) => {
    tellAll(typeof data === "string" ? JSON.parse(data) : undefined);
  });
  source.addEventListener("open", () => tellConnection("project", true));
  source.addEventListener("error", () => {
    tellConnection("project", false);
    if (source.readyState === EventSource.CLOSED) setTimeout(() => void comeAgain(), AGAIN_MS);
  });
  return new Promise(() => {}); // as long as the page is there
}

/** A server that ends, or does not know this browser any more, has closed the stream. */
async function comeAgain(): Promise<void> {
  const answer = await getJson("/v1/runs?limit=1");
  if (answer.ok || answer.status !== 401) void follow();
}

function tellAll(told: unknown): void {
  said = told;
  channel.postMessage(told);
  take(told, { isOwn: true });
}

function take(now: unknown, { isOwn }: { readonly isOwn: boolean }): void {
  if (!isProject(now)) return;
  const before = last;
  last = now;
  if (before !== undefined && before.server !== now.server) {
    news = "again";
    tellServer();
    dispatchEvent(new Event("server-again")); // who follows something of their own looks at it again
  }
  show(now);
  if (before === undefined || before.version !== now.version || before.server !== now.server) void look();
  if (before !== undefined && isOwn) notify(now, before);
}

/** It comes from our own server. */
function isProject(told: unknown): told is ProjectNow {
  return isRecord(told) && Array.isArray(told.waiting);
}

function count(runs: readonly WaitingRun[]): number {
  return runs.reduce((sum, { asks }) => sum + asks.length, 0);
}

const title = document.title.replace(/^\(\d+\) /, "");

function show({ active, waiting }: ProjectNow): void {
  const asks = count(waiting);
  document.title = asks > 0 ? `(${asks}) ${title}` : title;
  for (const shown of findAll("[data-count]")) {
    const number = shown.dataset.count === "asks" ? asks : active;
    shown.textContent = String(number);
    if (shown.parentElement !== null) shown.parentElement.hidden = number === 0;
  }
  const { asksOf } = document.body.dataset;
  const elsewhere = asksOf === "all" ? [] : waiting.filter(({ id }) => id !== asksOf);
  const note = maybeFind("[data-waiting]");
  const words = waitingWords(elsewhere);
  if (note === undefined || note.textContent === words.map((word) => word.textContent).join("")) return;
  note.hidden = elsewhere.length === 0;
  note.replaceChildren(...words);
}

/** The same as the server writes. */
function waitingWords(runs: readonly WaitingRun[]): readonly (Text | HTMLElement)[] {
  const [first] = runs;
  const asks = count(runs);
  if (first === undefined) return [];
  return asks > 1
    ? [new Text(`${asks} questions wait: `), el("a", { href: "/asks" }, "answer them")]
    : [new Text("A question waits: "), el("a", { href: pathOf(first) }, first.asks[0]?.question)];
}

function pathOf({ id, kind }: WaitingRun): string {
  return `/${kind === "conversation" ? "conversations" : "runs"}/${encodeURIComponent(id)}`;
}

/** Tells whoever looks elsewhere, where that was allowed, of what was not asked before. */
function notify({ waiting }: ProjectNow, before: ProjectNow): void {
  if (!("Notification" in globalThis) || Notification.permission !== "granted" || document.hasFocus()) return;
  for (const run of waiting) {
    const known = before.waiting.find(({ id }) => id === run.id)?.asks ?? [];
    for (const { question } of run.asks.slice(known.length)) {
      try {
        const told = new Notification("A question waits", { body: question, tag: run.id });
        told.onclick = () => {
          globalThis.focus();
          location.assign(pathOf(run));
        };
      } catch { /* this browser wants a worker for it */ }
    }
  }
}

for (const button of findAll("[data-notify]", HTMLButtonElement)) {
  button.hidden = !("Notification" in globalThis) || Notification.permission !== "default";
  button.addEventListener("click", async () => {
    await Notification.requestPermission();
    button.hidden = Notification.permission !== "default";
  });
}

let isLooking = false;
let isLate = false;
const shownAs = new WeakMap<Element, string>();

/** Puts the lists and questions of this page as the server has them now, on this page or on another; what was begun in a question stays. */
export async function look(): Promise<void> {
  const regions = findAll("[data-live]");
  if (regions.length === 0) return;
  isLate = isLooking;
  if (isLooking) return;
  isLooking = true;
  for (const region of regions) {
    const { live = "", liveOn } = region.dataset;
    const fresh = await pageAt(liveOn ?? location.href);
    if (fresh === undefined) continue;
    const found = maybeFind(`[data-live="${live}"], [data-asks="${live}"]`, HTMLElement, fresh) ?? el("div");
    if (shownAs.get(region) === found.innerHTML) continue;
    shownAs.set(region, found.innerHTML);
    swap(region, found);
  }
  isLooking = false;
  if (isLate) void look();
}

function swap(region: HTMLElement, fresh: HTMLElement): void {
  const { activeElement } = document;
  const link = activeElement instanceof HTMLAnchorElement ? activeElement.getAttribute("href") : null;
  const hadFocus = region.contains(activeElement);
  for (const card of findAll("form[data-ask]", HTMLElement, fresh)) {
    const { ask, askRun } = card.dataset;
    const known = findAll("form[data-ask]", HTMLElement, region).find(({ dataset }) =>
      dataset.ask === ask && dataset.askRun === askRun
    );
    if (known !== undefined) card.replaceWith(known);
  }
  region.replaceChildren(...fresh.childNodes);
  if (activeElement instanceof HTMLElement && activeElement.isConnected) activeElement.focus();
  else if (link !== null) {
    findAll("a[href]", HTMLElement, region).find((each) => each.getAttribute("href") === link)?.focus();
  } else if (hadFocus) maybeFind("main")?.focus();
  startCards();
  document.dispatchEvent(new Event("live"));
}

/** A page as it is now: a text of markup would be one that the page's policy forbids to read. */
function pageAt(path: string): Promise<Document | undefined> {
  const { promise, resolve } = Promise.withResolvers<Document | undefined>();
  const request = new XMLHttpRequest();
  request.responseType = "document";
  request.onloadend = () => resolve(request.status === 200 ? request.responseXML ?? undefined : undefined);
  request.open("GET", path);
  request.send();
  return promise;
}

/** Streams of this page that have no connection. */
const lost = new Set<string>();
let news: "again" | "out" | undefined;
let outWords = "";

/** Says whether a stream of this page has its connection. */
export function tellConnection(stream: string, isThere: boolean): void {
  if (isThere) lost.delete(stream);
  else lost.add(stream);
  tellServer();
}

function tellServer(): void {
  const note = maybeFind("[data-run-lost]");
  if (note === undefined) return;
  const to = encodeURIComponent(location.pathname + location.search);
  const words = news === "out"
    ? [outWords, el("a", { href: `/login?to=${to}` }, "Log in")]
    : lost.size > 0
    ? ["The connection is lost; it is being made again."]
    : news === "again"
    ? ["The server was started again."]
    : [];
  note.hidden = words.length === 0;
  note.replaceChildren(...words);
}

addEventListener("server-out", () => {
  if (news === "out") return;
  news = "out";
  outWords = lost.size > 0 ? "The server was started again. " : "You were logged out. ";
  tellServer();
});

channel.addEventListener("message", ({ data }: MessageEvent<unknown>) => {
  if (data === "hello") {
    if (said !== undefined) channel.postMessage(said);
  } else take(data, { isOwn: false });
});
channel.postMessage("hello");
if ("locks" in navigator) void navigator.locks.request("orrery", follow);
else void follow();
setInterval(() => {
  const hasLists = maybeFind("[data-live]:not([data-live-on])") !== undefined;
  if (hasLists && document.visibilityState === "visible" && lost.size === 0 && news !== "out") void look();
}, LOOK_MS);
