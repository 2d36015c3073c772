/** The pointer of an ARG line: RFC 6901 without the leading `/` (calls.md 3). */
export interface ArgumentPointer {
  /** As written, trimmed and without its leading `/`; messages quote it. */
  readonly text: string;
  /** Decoded; empty when there is an error. */
  readonly segments: readonly string[];
  /** The segment, when there is just one. */
  readonly only: string | undefined;
  readonly error: string | undefined;
}

/** Reads a trimmed pointer. Never throws. */
export function readArgumentPointer(trimmed: string): ArgumentPointer {
  const text = trimmed.startsWith("/") ? trimmed.slice(1) : trimmed;
  const segments = text.split("/").map(decodeSegment);
  const error = pointerError(text) ?? segmentError(text, segments);
  if (error !== undefined) return { text, segments: [], only: undefined, error };
  return { text, segments, only: segments.length === 1 ? segments[0] : undefined, error };
}

/** Writes a segment so that it is read back as itself. */
export function encodeSegment(segment: string): string {
  return segment.replaceAll("~", "~0").replaceAll("/", "~1");
}

function decodeSegment(segment: string): string {
  return segment.includes("~") ? segment.replaceAll("~1", "/").replaceAll("~0", "~") : segment;
}

function pointerError(text: string): string | undefined {
  if (text.includes(":")) return `Cannot read argument "${text}": put the value on the next line`;
  const readable = /^(?:[^/~ \t\r\n]|~[01])+(?:\/(?:[^/~ \t\r\n]|~[01])+)*$/;
  return readable.test(text)
    ? undefined
    : `Cannot read argument "${text}": expected a pointer such as name or items/0/name`;
}

function segmentError(text: string, segments: readonly string[]): string | undefined {
  const negative = segments.find((segment) => /^-[0-9]+$/.test(segment));
  if (negative !== undefined) return `Invalid array index "${negative}" in "${text}"`;
  return segments.includes("__proto__")
    ? `Cannot read argument "${text}": "__proto__" cannot be a name`
    : undefined;
}
