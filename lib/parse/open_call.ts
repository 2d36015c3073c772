import { isRecord, parseJson } from "../core/json.ts";
import type { CallBlock, CallEvent } from "./call_parser.ts";
import { type ArgumentPointer, ParameterTree } from "./parameter_tree.ts";

/**
 * The call whose block is being read: `parameters = { parameter } ; parameter = pointer , newline , value` (calls.md 3). One
 * JSON object may stand before the first parameter.
 */
export class OpenCall {
  readonly #start: Pick<CallBlock, "gadgetName" | "invocationId" | "dependencies" | "line">;
  readonly #leaf: (text: string) => unknown;
  readonly #errors: string[];
  #tree = new ParameterTree({});
  #raw = "";
  /** Of the parameter whose value is being read; none before the first one. */
  #pointer: ArgumentPointer | undefined;
  #value = "";
  /** The line ending behind the value so far. It belongs to the value only if more of that comes. */
  #ending = "";

  /** @param options.leaf what the text of a value becomes; `errors` are those of the header */
  constructor(
    start: Pick<CallBlock, "gadgetName" | "invocationId" | "dependencies" | "line">,
    options: { readonly errors: string[]; readonly leaf: (text: string) => unknown },
  ) {
    this.#start = start;
    this.#leaf = options.leaf;
    this.#errors = options.errors;
  }

  /** Takes an ARG line: the value before it is complete. */
  argument(pointer: ArgumentPointer, line: string): void {
    this.#closeValue();
    this.#raw += line;
    this.#pointer = pointer;
  }

  /** Takes the `\` of an escaped line, which is no part of the value. */
  escape(): void {
    this.#raw += "\\";
  }

  /** Takes a part of the value; gives what can be told of it. */
  text(text: string): CallEvent | undefined {
    this.#raw += text;
    const value = this.#ending + text;
    const end = value.length - endingOf(value);
    this.#ending = value.slice(end);
    return this.#tell(value.slice(0, end));
  }

  /** Ends the value with the text itself: a CR alone is no line ending. */
  endText(): CallEvent | undefined {
    return this.#ending === "\r" ? this.#tell(this.#ending) : undefined;
  }

  #tell(delta: string): CallEvent | undefined {
    this.#value += delta;
    if (this.#pointer === undefined || delta === "") return undefined;
    const { invocationId } = this.#start;
    return { type: "argument-delta", invocationId, pointer: this.#pointer.text, delta };
  }

  #closeValue(): void {
    const error = this.#pointer === undefined
      ? this.#readJson(this.#value)
      : this.#tree.place(this.#pointer, this.#leaf(this.#value));
    if (error !== undefined) this.#errors.push(error);
    this.#value = this.#ending = "";
  }

  /** Reads the text before the first parameter: one JSON object, bare or in one code fence, or blank. */
  #readJson(text: string): string | undefined {
    const body = text.trim();
    if (body === "") return undefined;
    const value = parsed(withoutFence(body));
    if (value instanceof RangeError) {
      return `Cannot read the JSON object before the first argument: ${value.message}`;
    }
    if (!isRecord(value)) return "Cannot read text before the first argument";
    if (hasProto(value)) { // it may be written with an escape, so the text does not tell
      return `Cannot read the JSON object before the first argument: "__proto__" cannot be a name`;
    }
    this.#tree = new ParameterTree({ ...value });
    return undefined;
  }

  end(): CallBlock {
    this.#closeValue();
    const { gadgetName, invocationId, dependencies, line } = this.#start;
    const parameters = this.#tree.root;
    const call = { gadgetName, invocationId, dependencies, parameters, parametersRaw: this.#raw, line };
    return this.#errors.length === 0 ? call : { ...call, parseError: this.#errors.join("\n") };
  }
}

/** The length of the line ending that a text ends with; a CR may become one. */
function endingOf(text: string): number {
  if (text.endsWith("\n")) return text.endsWith("\r\n") ? 2 : 1;
  return text.endsWith("\r") ? 1 : 0;
}

/** A fence is three or more back-ticks, an optional word, and the same back-ticks alone on the last line. */
function withoutFence(body: string): string {
  const fence = /^`{3,}/.exec(body)?.[0];
  const first = body.indexOf("\n");
  const last = body.lastIndexOf("\n");
  if (fence === undefined || last <= first) return body;
  const word = body.slice(fence.length, first).trim();
  const closes = body.slice(last + 1).trim() === fence;
  return closes && !/[\s`]/.test(word) ? body.slice(first + 1, last) : body;
}

function parsed(text: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    return error instanceof RangeError ? error : undefined;
  }
}

/** Whether a value has a key `__proto__` at any depth. */
export function hasProto(value: unknown): boolean {
  const open: unknown[] = [value];
  while (open.length > 0) {
    const next = open.pop();
    if (typeof next !== "object" || next === null) continue;
    if (Object.hasOwn(next, "__proto__")) return true;
    for (const child of Object.values(next)) open.push(child);
  }
  return false;
}
