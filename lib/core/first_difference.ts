const MAX_SHOWN = 160;

/** Where two JSON values differ first, in words: a JSON pointer and what is at it on either side. */
export function firstDifference(recorded: unknown, now: unknown): string {
  const at = pointerTo(recorded, now, "");
  const show = (value: unknown): string =>
    shortened(valueAt(value, at), valueAt(value === recorded ? now : recorded, at));
  return `at ${at === "" ? "the top" : JSON.stringify(at)} the record has ${
    show(recorded)
  }, the run now has ${show(now)}`;
}

function pointerTo(a: unknown, b: unknown, path: string): string {
  for (const key of keysOf(a, b)) {
    const [left, right] = [childOf(a, key), childOf(b, key)];
    if (JSON.stringify(left) === JSON.stringify(right)) continue;
    return pointerTo(left, right, `${path}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`);
  }
  return path;
}

/** The keys of either, when both have any of the same kind. */
function keysOf(a: unknown, b: unknown): readonly string[] {
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return [];
  if (Array.isArray(a) !== Array.isArray(b)) return [];
  return [...new Set([...Object.keys(a), ...Object.keys(b)])];
}

function childOf(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null
    ? Object.getOwnPropertyDescriptor(value, key)?.value
    : undefined;
}

function valueAt(value: unknown, pointer: string): unknown {
  return pointer.split("/").slice(1).reduce(
    (inside: unknown, key) => childOf(inside, key.replaceAll("~1", "/").replaceAll("~0", "~")),
    value,
  );
}

/** The value as JSON; a long one from shortly before the place where it stops being like the other. */
function shortened(value: unknown, other: unknown): string {
  const text = JSON.stringify(value) ?? "nothing";
  if (text.length <= MAX_SHOWN) return text;
  const otherText = JSON.stringify(other) ?? "";
  let same = 0;
  while (same < text.length && text[same] === otherText[same]) same++;
  const from = Math.max(0, Math.min(same - 40, text.length - MAX_SHOWN));
  const to = Math.min(text.length, from + MAX_SHOWN);
  return `${from > 0 ? "…" : ""}${text.slice(from, to)}${to < text.length ? "…" : ""}`;
}
