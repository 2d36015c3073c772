/// <reference lib="dom" />
// A conversation with an agent: what was said, the answer as it comes, and the field for what is said next.
import { isRecord } from "../core/json.ts";
import { stateWord } from "../render/step_words.ts";
import { AskPanel } from "./ask_panel.ts";
import { el, findAll, isAtEnd, maybeFind } from "./dom.ts";
import { followEvents } from "./event_feed.ts";
import { FrameLoop } from "./frame_loop.ts";
import { tellConnection } from "./live.ts";
import { rowsOf, RowView } from "./row_view.ts";
import { RunClock } from "./run_clock.ts";
import { RunState } from "./run_state.ts";
import { showParts, showStatus } from "./run_status.ts";
import { getJson, postJson, type ServerAnswer, UNREACHABLE } from "./server_calls.ts";

/** How near to its end counts as there, px. */
const NEAR_PX = 60;

/** After so long it is no event of before any more that says the conversation stands otherwise, ms. */
const SURE_MS = 200;

/** A message as the server lists it. */
interface Said {
  readonly n: number;
  readonly role: string;
  readonly text: string;
  /** Its turn has not ended: it has no place in the log yet. */
  readonly isSent: boolean;
}

/** What was said, in an element that scrolls. */
class ChatLog {
  readonly #root: HTMLElement;
  /** What is on its way, by step; and what was sent and has no place in the log yet. */
  readonly #open = new Map<string, HTMLElement>();
  #pending: HTMLElement | undefined;
  /** How many of the whole texts are in it. */
  #whole = 0;

  constructor(root: HTMLElement) {
    this.#root = root;
    this.#pending = maybeFind("[data-sent]", HTMLElement, root);
    this.#root.scrollTop = this.#root.scrollHeight;
  }

  /** Shown at once; the server's own list takes its place. */
  send(text: string): void {
    this.#pending?.remove();
    this.#pending = bubble({ role: "user", text });
    this.#root.append(this.#pending);
    this.#root.scrollTop = this.#root.scrollHeight;
  }

  /** It was not taken. */
  takeBack(): void {
    this.#pending?.remove();
    this.#pending = undefined;
  }

  update(state: RunState): void {
    const wasAtEnd = isAtEnd(this.#root, NEAR_PX);
    for (const { n, text, step, isOwn } of state.texts.slice(this.#whole)) {
      if (isOwn && n > 0) this.#say({ n, text, step });
    }
    this.#whole = state.texts.length;
    for (const [step, { text, isOwn }] of state.open) if (isOwn) this.#grow(step, text);
    for (const [step, item] of this.#open) {
      if (state.open.has(step)) continue;
      item.remove();
      this.#open.delete(step);
    }
    if (wasAtEnd) this.#root.scrollTop = this.#root.scrollHeight;
  }

  /** The log as the server has it: it lists what was sent when the turn has gone through. @param options.isUnfinished it can be tried again */
  settle(messages: readonly Said[], { isUnfinished }: { readonly isUnfinished: boolean }): void {
    const sent = this.#pending === undefined
      ? ""
      : maybeFind(".chat-text", HTMLElement, this.#pending)?.textContent;
    const listed = messages.filter(({ isSent }) => !isSent);
    const isListed = listed.some(({ n, role, text }) => role === "user" && text === sent && !this.#has(n));
    if (isListed || !isUnfinished) this.takeBack();
    const open = messages.find(({ isSent }) => isSent);
    if (open !== undefined && this.#pending === undefined) this.send(open.text);
    for (const message of listed) {
      if (this.#has(message.n)) continue;
      const item = bubble(message);
      const next = findAll("[data-n]", HTMLElement, this.#root).find((each) =>
        Number(each.dataset.n) > message.n
      );
      this.#root.insertBefore(item, next ?? null);
    }
    this.#root.scrollTop = this.#root.scrollHeight;
  }

  #has(n: number): boolean {
    return this.#root.querySelector(`[data-n="${n}"]`) !== null;
  }

  #say({ n, text, step }: { readonly n: number; readonly text: string; readonly step: string }): void {
    if (this.#has(n)) return;
    this.#open.get(step)?.remove();
    this.#open.delete(step);
    this.#root.append(bubble({ n, role: "assistant", text }));
  }

  #grow(step: string, text: string): void {
    const known = this.#open.get(step);
    if (known === undefined) {
      const item = bubble({ role: "assistant", text });
      item.dataset.open = "";
      item.setAttribute("aria-busy", "true"); // else each piece of it would be read out
      this.#open.set(step, item);
      this.#root.append(item);
      return;
    }
    const words = maybeFind(".chat-text", HTMLElement, known);
    if (words !== undefined && words.textContent !== text) words.textContent = text;
  }
}

/** As the server makes them. */
function bubble(
  { n, role, text }: { readonly n?: number; readonly role: string; readonly text: string },
): HTMLElement {
  const who = role === "user" ? "You" : "Agent";
  return el(
    "div",
    { class: "chat-message", "data-role": role === "user" ? "user" : "agent", "data-n": n },
    el("span", { class: "chat-who" }, who),
    el("div", { class: "chat-text" }, text),
  );
}

class ChatPage {
  readonly #path: string;
  readonly #id: string;
  readonly #log: ChatLog;
  readonly #form: HTMLFormElement;
  readonly #field: HTMLTextAreaElement;
  readonly #state = new RunState();
  readonly #clock = new RunClock();
  readonly #loop = new FrameLoop(() => this.#show(), { isTicking: () => this.#isBusy && !this.#isLost });
  readonly #rows: RowView | undefined;
  readonly #asks: AskPanel | undefined;
  #isBusy = false;
  #isLost = false;
  /** A turn of this page is under way: its answer says how it went. */
  #isOwnTurn = false;
  #sureTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(root: HTMLElement, parts: {
    readonly log: HTMLElement;
    readonly form: HTMLFormElement;
    readonly field: HTMLTextAreaElement;
  }) {
    this.#id = root.dataset.chatPage ?? "";
    this.#path = `/v1/conversations/${encodeURIComponent(this.#id)}`;
    this.#log = new ChatLog(parts.log);
    this.#form = parts.form;
    this.#field = parts.field;
    const rows = maybeFind("[data-chat-rows]");
    this.#rows = rows && new RowView(rows);
    const asks = maybeFind("[data-chat-asks]");
    this.#asks = asks && new AskPanel(asks, { run: this.#id });
    this.#isBusy = root.dataset.chatStatus === "running";
  }

  start(): void {
    this.#form.addEventListener("submit", (event) => {
      event.preventDefault();
      void this.#say();
    });
    this.#field.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      void this.#say();
    });
    for (const button of findAll("button[data-chat-do]", HTMLButtonElement)) {
      button.addEventListener("click", () => void this.#do(button.dataset.chatDo ?? ""));
    }
    followEvents(`${this.#path}/events`, {
      take: (frame) => {
        if (!this.#state.take(frame)) return;
        this.#clock.set(this.#state.at);
        this.#loop.due();
      },
      connected: (isConnected) => {
        if (!isConnected && this.#isBusy) this.#clock.stop();
        this.#isLost = !isConnected;
        tellConnection("run", isConnected);
        this.#loop.due();
      },
      over: () => void this.#lookAgain(),
    });
    addEventListener("server-again", () => void this.#lookAgain());
    if (matchMedia("(hover: hover)").matches) this.#field.focus(); // a keyboard on the glass would cover half the page
  }

  async #say(): Promise<void> {
    const text = this.#field.value.trim();
    if (text === "" || this.#isBusy) return;
    this.#field.value = "";
    this.#log.send(text);
    const answer = await this.#turn("messages", { text });
    if (answer.ok) return;
    this.#log.takeBack();
    if (this.#field.value === "") this.#field.value = text;
  }

  async #do(what: string): Promise<void> {
    if (what === "retry") await this.#turn("retry", {});
    else if (what === "cancel") {
      tell(await postJson(`/v1/runs/${encodeURIComponent(this.#state.run ?? this.#id)}/cancel`, {}));
    } else if (what === "back") await this.#back();
  }

  /** The conversation without its last turn is another one. */
  async #back(): Promise<void> {
    const answer = await postJson(`${this.#path}/back`, { turns: 1 });
    if (answer.ok && typeof answer.value.id === "string") {
      location.assign(`/conversations/${encodeURIComponent(answer.value.id)}`);
    } else tell(answer);
  }

  async #turn(what: "messages" | "retry", body: unknown): Promise<ServerAnswer> {
    this.#isOwnTurn = true;
    this.#busy(true);
    const answer = await postJson(`${this.#path}/${what}`, body);
    this.#isOwnTurn = false;
    this.#busy(false);
    if (answer.ok) {
      tell(answer);
      this.#settle(answer.value);
    } else {
      await this.#lookAgain(); // how it stands, whatever was not taken
      tell(answer);
    }
    return answer;
  }

  /** A turn that was begun before this page, or on another one, begins and ends too. */
  #lookWhenOther(): void {
    if (this.#isOwnTurn || this.#isRunning() === this.#isBusy || this.#sureTimer !== undefined) return;
    this.#sureTimer = setTimeout(() => {
      this.#sureTimer = undefined;
      if (!this.#isOwnTurn && this.#isRunning() !== this.#isBusy) void this.#lookAgain();
    }, SURE_MS);
  }

  #isRunning(): boolean {
    return this.#state.status === "running" || this.#state.status === "waiting" && this.#isBusy;
  }

  async #lookAgain(): Promise<void> {
    const answer = await getJson(this.#path);
    if (!answer.ok && answer.status === 401) return showState("not known");
    tell(answer);
    if (answer.ok) this.#settle(answer.value);
  }

  #settle({ messages, status, error, slots, interrupted }: Readonly<Record<string, unknown>>): void {
    this.#log.settle(saidIn(messages), { isUnfinished: status === "failed" });
    if (typeof status === "string") {
      showState(status, interrupted === true ? "stopped" : stateWord({ status }));
      this.#isBusy = status === "running";
      this.#state.stand(this.#isBusy);
      this.#loop.due();
    }
    if (typeof error === "string") tell({ ok: false, status: 0, code: "", problem: error });
    for (const shown of isRecord(slots) ? findAll("[data-chat-slots]") : []) {
      shown.textContent = JSON.stringify(slots, null, 2);
    }
  }

  #busy(isBusy: boolean): void {
    this.#isBusy = isBusy;
    if (isBusy) showState("running");
    this.#loop.due();
  }

  #show(): void {
    this.#lookWhenOther();
    this.#log.update(this.#state);
    this.#asks?.update(this.#state.asks);
    if (this.#isBusy) showStatus(stateWord({ status: "running", asks: { length: this.#state.asks.size } }));
    this.#rows?.update(this.#state, this.#clock.at({ isRunning: this.#isBusy && !this.#isLost }));
    for (const steps of findAll("[data-chat-steps]")) {
      steps.hidden = rowsOf(this.#state).length === 0;
    }
    for (const busy of findAll("[data-chat-busy]")) busy.hidden = !this.#isBusy || this.#state.asks.size > 0;
  }
}

/** What can be said and done depends on how it stands. */
function showState(status: string, word: string = status): void {
  showStatus(word);
  showParts(status);
}

/** A problem is told until the next answer. */
function tell(answer: ServerAnswer): void {
  const note = maybeFind("[data-run-problem]");
  if (note === undefined) return;
  const isSaid = !answer.ok && answer.code === UNREACHABLE &&
    maybeFind("[data-run-lost]:not([hidden])");
  note.hidden = answer.ok || Boolean(isSaid);
  note.textContent = answer.ok ? "" : answer.problem;
}

function saidIn(messages: unknown): readonly Said[] {
  if (!Array.isArray(messages)) return [];
  return messages.flatMap((message: unknown) => {
    if (!isRecord(message)) return [];
    const { n, role, text, answered } = message;
    return typeof n === "number" && typeof role === "string" && typeof text === "string"
      ? [{ n, role, text, isSent: answered === false }]
      : [];
  });
}

const root = maybeFind("[data-chat-page]");
const log = maybeFind("[data-chat-log]");
const form = maybeFind("[data-chat-form]", HTMLFormElement);
const field = maybeFind("[data-chat-form] textarea", HTMLTextAreaElement);
if (root !== undefined && log !== undefined && form !== undefined && field !== undefined) {
  new ChatPage(root, { log, form, field }).start();
}
