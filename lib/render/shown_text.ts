import type { RunEvent } from "../core/event.ts";
import type { Json } from "../core/json.ts";
import type { Usage } from "../core/model.ts";

/** Text between blocks, for people: any number of blank lines is one, and one that nothing follows is none. */
export class BlankLines {
  #lineHasText = false;
  #isBlankDue = false;
  #hasText = false;

  /** What to show of the text that comes next. */
  fold(text: string): string {
    return text.replaceAll(/\n|[^\n]+/g, (part) => part === "\n" ? this.#lineEnding() : this.#words(part));
  }

  #lineEnding(): string {
    const ending = this.#lineHasText ? "\n" : "";
    this.#isBlankDue ||= !this.#lineHasText;
    this.#lineHasText = false;
    return ending;
  }

  #words(part: string): string {
    const blank = this.#isBlankDue && this.#hasText ? "\n" : "";
    this.#isBlankDue = false;
    this.#lineHasText = this.#hasText = true;
    return blank + part;
  }
}

const MAX_CHARACTERS = 4000;

/** A text for people to read: a very long one is cut, and says how much is missing and where all of it is. */
export function longText(text: string): string {
  if (text.length <= MAX_CHARACTERS) return text;
  return `${text.slice(0, MAX_CHARACTERS)}\u2026 (${
    text.length - MAX_CHARACTERS
  } more characters; --jsonl shows all)`;
}

/** Whether a step is one of what runs inside of a call: its text is the result of that call, and no answer of the run. */
export function isInsideCall(step: string): boolean {
  return /(?:^|\/)call:/.test(step);
}

/**
 * Tells what a model says on the way from its answer. The text of a step is held back until it is known which it is: a step that calls
 * something, or that another model step follows, was on the way.
 */
export class InterimText {
  #step: string | undefined;
  #isInterim = false;
  #held = "";

  /** Text that is now known not to be of the answer; what is left at the end of the run is. */
  take(event: RunEvent): string {
    const step = event.type === "step-start" ? event.key : "step" in event ? event.step : undefined;
    if (step === undefined || isInsideCall(step)) return "";
    if (event.type === "text-delta") return this.#takeText(step, event.text);
    if (event.type === "step-start" && event.kind === "model") return this.#begin(step);
    if (event.type === "call-open") return this.#callIn(step);
    return "";
  }

  /** What may still be the answer: the last line of it is worth a look while it is written. */
  get held(): string {
    return this.#held;
  }

  #takeText(step: string, text: string): string {
    const before = this.#begin(step);
    if (this.#isInterim) return before + text;
    this.#held += text;
    return before;
  }

  #begin(step: string): string {
    if (this.#step === step) return "";
    const before = this.#release();
    this.#step = step;
    this.#isInterim = false;
    return before;
  }

  #callIn(step: string): string {
    const before = this.#begin(step);
    this.#isInterim = true;
    return before + this.#release();
  }

  #release(): string {
    const text = this.#held;
    this.#held = "";
    return text === "" || text.endsWith("\n") || this.#isInterim ? text : `${text}\n`;
  }
}

/** The value of a run as it goes to stdout: text as it is, everything else as JSON with a final line feed. */
export function resultText(value: Json): string {
  return typeof value === "string" ? value : `${JSON.stringify(value, null, 2)}\n`;
}

/** A time for people: `0.4 ms`, `120 ms`, `1.3 s`, `2 min`, `2 min 05 s`, `3 h 20 min`. */
export function duration(ms: number): string {
  if (ms < 9.95) return `${(Math.round(ms * 10) / 10).toString()} ms`;
  if (ms < 999.5) return `${Math.round(ms)} ms`;
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  const [all, large, small] = seconds < 3600 ? [seconds, "min", "s"] : [Math.round(seconds / 60), "h", "min"];
  const rest = all % 60 === 0 ? "" : ` ${String(all % 60).padStart(2, "0")} ${small}`;
  return `${Math.floor(all / 60)} ${large}${rest}`;
}

/** `thought for 3.2 s, 412 characters` */
export function thoughtWords(
  { characters, ms }: { readonly characters: number; readonly ms?: number },
): string {
  return `thought${ms === undefined ? "" : ` for ${duration(ms)}`}, ${characters} characters`;
}

/** Tokens and cost for people: `1234 in, 56 out, $0.0123`; what is not known is left out, and nothing at all is the empty text. */
export function usageWords({ input, output, cached, reasoning, cost }: Usage): string {
  if (input === 0 && output === 0 && cost === undefined) return "";
  return [
    `${input} in${cached === undefined || cached === 0 ? "" : ` (${cached} cached)`}`,
    `${output} out${reasoning === undefined || reasoning === 0 ? "" : ` (${reasoning} thought)`}`,
    ...(cost === undefined ? [] : [costWords(cost)]),
  ].join(", ");
}

/** US dollars with as many places as tell something: `$1.20`, `$0.0123`, `$0.000012`. */
export function costWords(cost: number): string {
  if (cost === 0 || cost >= 1) return `$${cost.toFixed(2)}`;
  const places = Math.min(8, Math.max(4, 1 - Math.floor(Math.log10(cost))));
  return `$${cost.toFixed(places)}`;
}

/** The same behind a text, `before` it when there is something to say. */
export function withUsage(
  text: string,
  { usage, before }: { readonly usage: Usage | undefined; readonly before: string },
): string {
  const words = usage === undefined ? "" : usageWords(usage);
  return words === "" ? text : `${text}${before}${words}`;
}

// Results, logs and errors come from gadgets, pages and models. A terminal obeys some characters: they can move the cursor,
// change the title, fill the clipboard, or turn a line around (https://trojansource.codes). Here they become visible marks.

/** Most texts: looked at first, because the tables behind the classes below take longer to make than a short run takes. */
const PLAIN = /^[\t\n\x20-\x7e]*$/;

/** The text with everything a terminal would obey made visible; line feeds and tabs stay, CR LF becomes LF. */
export function printable(text: string): string {
  return PLAIN.test(text) ? text : madeVisible(text.replaceAll("\r\n", "\n"));
}

/** C0 but tab and line feed, DEL, C1, line and paragraph separators, what turns the direction of writing, and lone surrogates. */
function madeVisible(text: string): string {
  return text.replace(
    /(?![\t\n])\p{Cc}|[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]|\p{Cs}/gu,
    visible,
  );
}

/** The same on one line: line ends become U+23CE, tabs a blank. */
export function printableLine(text: string): string {
  return printable(text.replace(/\r?\n$/, "")).replaceAll("\n", "\u23ce").replaceAll("\t", " ");
}

function visible(character: string): string {
  const code = character.charCodeAt(0);
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  if (code === 0x7f) return "\u2421";
  return code < 0x100 ? `\\x${code.toString(16)}` : `\\u${code.toString(16).padStart(4, "0")}`;
}
