import type { RunEvent } from "../core/event.ts";
import type { Json } from "../core/json.ts";

/** What the names and the numbers of an event take. */
const HEAD_BYTES = 120;

/** How long an event is as JSON, roughly: counted and not written, since most events are never read by anybody. */
export function eventBytes(event: RunEvent): number {
  switch (event.type) {
    case "text-delta":
    case "message":
    case "call-log":
    case "warning":
      return HEAD_BYTES + event.text.length;
    case "call-result":
      return HEAD_BYTES + jsonBytes(event.result);
    case "call-error":
      return HEAD_BYTES + event.error.length;
    case "step-end":
      return HEAD_BYTES + jsonBytes(event.outcome) + (event.error?.message.length ?? 0) +
        (event.partial?.length ?? 0);
    case "slot-set":
      return HEAD_BYTES + jsonBytes(event.value);
    case "block-merge":
      return HEAD_BYTES + event.removed.length + event.inserted.length;
    case "run-end":
      return HEAD_BYTES + jsonBytes(event.value) + (event.document?.length ?? 0) + (event.error?.length ?? 0);
    default:
      return HEAD_BYTES;
  }
}

/** How long a value is as JSON, roughly. */
export function jsonBytes(value: Json | undefined): number {
  if (typeof value === "string") return value.length + 2;
  if (typeof value !== "object" || value === null) return 8;
  let bytes = 2;
  if (Array.isArray(value)) {
    for (const item of value) bytes += jsonBytes(item) + 1;
    return bytes;
  }
  for (const [name, item] of Object.entries(value)) bytes += name.length + 4 + jsonBytes(item);
  return bytes;
}
