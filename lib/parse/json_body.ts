import { isRecord } from "../core/json.ts";

/** What the text before the first ARG line gives: parameters, or an error (calls.md 3 and 7). */
export interface JsonBody {
  readonly parameters?: Record<string, unknown>;
  readonly error?: string;
}

/** Reads one JSON object, bare or in one code fence; blank text is nothing. Never throws. */
export function readJsonBody(text: string): JsonBody {
  const body = text.trim();
  if (body === "") return {};
  const inside = withoutFence(body);
  const value = parsed(inside);
  if (!isRecord(value)) {
    return { error: "Cannot read text before the first argument" };
  }
  if (hasProto(value)) { // it may be written with an escape, so the text does not tell
    return { error: `Cannot read the JSON object before the first argument: "__proto__" cannot be a name` };
  }
  return { parameters: { ...value } };
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
    return JSON.parse(text);
  } catch {
    return undefined;
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
