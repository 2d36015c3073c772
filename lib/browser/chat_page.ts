/// <reference lib="dom" />
// A conversation with an agent: what was said, the answer as it comes, and the field for what is said next.
import { isRecord } from "../core/json.ts";
import { stateWord } from "../render/step_words.ts";
import { el, findAll, maybeFind } from "./dom.ts";
import { rowsOf, RowView } from "./row_view.ts";
import { RunFeed, showParts, showStatus, tellProblem } from "./run_feed.ts";
import type { RunState } from "./run_state.ts";
import { getJson, postJson, type ServerAnswer, UNREACHABLE } from "./server_calls.ts";
import { TextView } from "./text_view.ts";

/** How near to its end counts as there, px. */
const NEAR_PX = 60;

/** After so long it is no event of before any more that says the conversation stands otherwise, ms. */
const SURE_MS = 200;

/** A message as the server lists it. */
interface Said {
  readonly n: number;
  readonly role: string;
  readonly text: string;
  /** Names of what was shown with it. */
  readonly files: readonly string[];
  /** Its turn has not ended: it has no place in the log yet. */
  readonly isSent: boolean;
}

/** What was said, in an element that scrolls. */
class ChatLog {
  readonly #root: HTMLElement;
  /** What is on its way, and what is whole. */
  readonly #texts: TextView;
  /** What was sent and has no place in the log yet. */
  #pending: HTMLElement | undefined;

  constructor(root: HTMLElement) {
    this.#root = root;
    this.#pending = maybeFind("[data-sent]", HTMLElement, root);
    this.#texts = new TextView(root, {
      takes: (text) => text.isOwn && (!("n" in text) || text.n > 0 && !this.#has(text.n)),
      wordsOf: (_, text) => text,
      make: (words) => bubble({ role: "assistant", text: words }),
      ended: (element, { n }) => element.dataset.n = String(n),
      nearPx: NEAR_PX,
    });
    this.#root.scrollTop = this.#root.scrollHeight;
  }

  /** Shown at once; the server's own list takes its place. */
  send(text: string, files: readonly string[]): void {
    this.#pending?.remove();
    this.#pending = bubble({ role: "user", text, files });
    this.#root.append(this.#pending);
    this.#root.scrollTop = this.#root.scrollHeight;
  }

  /** It was not taken. */
  takeBack(): void {
    this.#pending?.remove();
    this.#pending = undefined;
  }

  update(state: RunState): void {
    this.#texts.update(state);
  }

  /** The log as the server has it: it lists what was sent when the turn has gone through. @param options.isUnfinished it can be tried again */
  settle(messages: readonly Said[], { isUnfinished }: { readonly isUnfinished: boolean }): void {
    const sent = this.#pending === undefined
      ? ""
      : maybeFind(".chat-text", HTMLElement, this.#pending)?.textContent;
    const listed = messages.filter(({ isSent }) => !isSent);
    const isListed = listed.some(({ n, role, text }) =>
      role === "user" && text.startsWith(sent ?? "") && !this.#has(n) // files of text stand behind it
    );
    if (isListed || !isUnfinished) this.takeBack();
    const open = messages.find(({ isSent }) => isSent);
    if (open !== undefined && this.#pending === undefined) this.send(open.text, open.files);
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
}

/** As the server makes them. */
function bubble(
  { n, role, text, files = [] }: {
    readonly n?: number;
    readonly role: string;
    readonly text: string | Text;
    readonly files?: readonly string[];
  },
): HTMLElement {
  const who = role === "user" ? "You" : "Agent";
  return el(
    "div",
    { class: "chat-message", "data-role": role === "user" ? "user" : "agent", "data-n": n },
    el("span", { class: "chat-who" }, who),
    el("div", { class: "chat-text" }, text),
    files.length > 0 && el("span", { class: "chat-files soft small" }, files.join(", ")),
  );
}

class ChatPage {
  readonly #path: string;
  readonly #id: string;
  readonly #log: ChatLog;
  readonly #form: HTMLFormElement;
  readonly #field: HTMLTextAreaElement;
  readonly #files: HTMLInputElement;
  readonly #feed: RunFeed;
  readonly #rows: RowView | undefined;
  #isBusy = false;
  /** A turn of this page is under way: its answer says how it went. */
  #isOwnTurn = false;
  #sureTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(root: HTMLElement, parts: {
    readonly log: HTMLElement;
    readonly form: HTMLFormElement;
    readonly field: HTMLTextAreaElement;
    readonly files: HTMLInputElement;
  }) {
    this.#id = root.dataset.chatPage ?? "";
    this.#path = `/v1/conversations/${encodeURIComponent(this.#id)}`;
    this.#feed = new RunFeed({
      path: this.#path,
      show: () => this.#show(),
      isRunning: () => this.#isBusy,
      ended: () => void this.#lookAgain(),
    });
    this.#log = new ChatLog(parts.log);
    this.#form = parts.form;
    this.#field = parts.field;
    this.#files = parts.files;
    const rows = maybeFind("[data-chat-rows]");
    this.#rows = rows && new RowView(rows);
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
    this.#form.addEventListener("paste", (event) => this.#take(event, event.clipboardData));
    this.#form.addEventListener("dragover", (event) => event.preventDefault());
    this.#form.addEventListener("drop", (event) => this.#take(event, event.dataTransfer));
    for (const button of findAll("button[data-chat-do]", HTMLButtonElement)) {
      button.addEventListener("click", () => void this.#do(button.dataset.chatDo ?? ""));
    }
    this.#feed.follow();
    addEventListener("server-again", () => void this.#lookAgain());
    if (matchMedia("(hover: hover)").matches) this.#field.focus(); // a keyboard on the glass would cover half the page
  }

  /** Files that are pasted or dropped are chosen. */
  #take(event: Event, transfer: DataTransfer | null): void {
    if (transfer === null || transfer.files.length === 0) return;
    event.preventDefault();
    this.#files.files = transfer.files;
  }

  async #say(): Promise<void> {
    const text = this.#field.value.trim();
    const chosen = [...this.#files.files ?? []];
    if ((text === "" && chosen.length === 0) || this.#isBusy) return;
    this.#field.value = "";
    this.#log.send(text, chosen.map(({ name }) => name));
    const files = chosen.length === 0 ? undefined : Promise.all(chosen.map(fileJson));
    const answer = await this.#turn("messages", async () => ({ text, files: await files }));
    if (answer.ok) return void (this.#files.value = "");
    this.#log.takeBack();
    if (this.#field.value === "") this.#field.value = text;
  }

  async #do(what: string): Promise<void> {
    if (what === "retry") await this.#turn("retry", () => Promise.resolve({}));
    else if (what === "cancel") {
      tell(await postJson(`/v1/runs/${encodeURIComponent(this.#feed.state.run ?? this.#id)}/cancel`, {}));
    } else if (what === "back") await this.#back();
  }

  /** The conversation without its last turn is another one. */
  async #back(): Promise<void> {
    const answer = await postJson(`${this.#path}/back`, { turns: 1 });
    if (answer.ok && typeof answer.value.id === "string") {
      location.assign(`/conversations/${encodeURIComponent(answer.value.id)}`);
    } else tell(answer);
  }

  async #turn(what: "messages" | "retry", body: () => Promise<unknown>): Promise<ServerAnswer> {
    this.#isOwnTurn = true;
    this.#busy(true);
    const answer = await body().then((json) => postJson(`${this.#path}/${what}`, json), unreadable);
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
    return this.#feed.state.status === "running" || this.#feed.state.status === "waiting" && this.#isBusy;
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
      this.#feed.state.stand(this.#isBusy);
      this.#feed.due();
    }
    if (typeof error === "string") tellProblem(error);
    for (const shown of isRecord(slots) ? findAll("[data-chat-slots]") : []) {
      shown.textContent = JSON.stringify(slots, null, 2);
    }
  }

  #busy(isBusy: boolean): void {
    this.#isBusy = isBusy;
    if (isBusy) showState("running");
    this.#feed.due();
  }

  #show(): void {
    this.#lookWhenOther();
    const { state, now } = this.#feed;
    this.#log.update(state);
    if (this.#isBusy) showStatus(stateWord({ status: "running", asks: { length: state.asks.size } }));
    this.#rows?.update(state, now);
    for (const steps of findAll("[data-chat-steps]")) steps.hidden = rowsOf(state).length === 0;
    for (const busy of findAll("[data-chat-busy]")) busy.hidden = !this.#isBusy || state.asks.size > 0;
  }
}

/** A file as the server takes it. */
async function fileJson(file: File): Promise<{ readonly name: string; readonly data: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const reader = new FileReader();
  reader.onload = () => resolve(String(reader.result)); // data:TYPE;base64,DATA
  reader.onerror = () => reject(new Error(`${file.name} cannot be read: ${reader.error?.message}`));
  reader.readAsDataURL(file);
  return { name: file.name, data: (await promise).replace(/^[^,]*,?/, "") };
}

function unreadable(error: Error): ServerAnswer {
  return { ok: false, status: 0, code: "file", problem: error.message, value: {} };
}

/** What can be said and done depends on how it stands. */
function showState(status: string, word: string = status): void {
  showStatus(word);
  showParts(status);
}

/** A problem is told until the next answer. */
function tell(answer: ServerAnswer): void {
  const isSaid = !answer.ok && answer.code === UNREACHABLE && maybeFind("[data-run-lost]:not([hidden])");
  tellProblem(answer.ok || isSaid ? "" : answer.problem);
}

function saidIn(messages: unknown): readonly Said[] {
  if (!Array.isArray(messages)) return [];
  return messages.flatMap((message: unknown) => {
    if (!isRecord(message)) return [];
    const { n, role, text, answered, media } = message;
    const files = (Array.isArray(media) ? media : []).filter(isRecord)
      .map(({ name, mediaType }) => String(name ?? mediaType));
    return typeof n === "number" && typeof role === "string" && typeof text === "string"
      ? [{ n, role, text, files, isSent: answered === false }]
      : [];
  });
}

const root = maybeFind("[data-chat-page]");
const log = maybeFind("[data-chat-log]");
const form = maybeFind("[data-chat-form]", HTMLFormElement);
const field = maybeFind("[data-chat-form] textarea", HTMLTextAreaElement);
const files = maybeFind("[data-chat-form] [type=file]", HTMLInputElement);
if (
  root !== undefined && log !== undefined && form !== undefined && field !== undefined && files !== undefined
) {
  new ChatPage(root, { log, form, field, files }).start();
}
