import type { RunEvent, RunEventBody } from "../core/event.ts";

/**
 * What makes an event the same one when a resumed run comes by again: its place, not its text. Deltas, logs and progress are not
 * stored and have none in common with a stored event.
 */
export function eventIdentity(event: RunEventBody | RunEvent): string {
  switch (event.type) {
    case "run-start":
    case "run-end":
      return event.type;
    case "step-start":
      return `${event.type} ${event.key} ${event.attempt}`;
    case "step-end":
      return `${event.type} ${event.key} ${event.error === undefined}`;
    case "message":
      return `${event.type} ${event.step} ${event.n}`;
    case "usage":
      return `${event.type} ${event.step}`;
    case "call-open":
    case "call-run":
    case "call-result":
    case "call-error":
    case "call-skip":
      return `${event.type} ${event.step ?? ""} ${event.line} ${event.invocationId}`;
    case "permission-ask":
    case "permission-answer":
      return `${event.type} ${event.subject} ${event.permissions.join("\n")}`;
    case "warning":
      return `${event.type} ${event.file ?? ""} ${event.line ?? 0} ${event.text}`;
    case "text-delta":
    case "call-log":
    case "call-progress":
      return `${event.type} -`;
    default:
      return event satisfies never;
  }
}
