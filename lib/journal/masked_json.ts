/** The value with every string and every key in it masked; the same value when that changes nothing. */
export function maskedJson<T>(value: T, mask: (text: string) => string): T;
export function maskedJson(value: unknown, mask: (text: string) => string): unknown {
  if (typeof value === "string") return mask(value);
  if (typeof value !== "object" || value === null) return value;
  return Array.isArray(value) ? maskedList(value, mask) : maskedObject(value, mask);
}

function maskedList(list: readonly unknown[], mask: (text: string) => string): readonly unknown[] {
  const masked = list.map((item) => maskedJson(item, mask));
  return masked.every((item, index) => item === list[index]) ? list : masked;
}

function maskedObject(object: object, mask: (text: string) => string): object {
  const out = new Map<string, unknown>();
  let changed = false;
  for (const [key, item] of Object.entries(object)) {
    const maskedItem = maskedJson(item, mask);
    const maskedKey = mask(key);
    changed ||= maskedItem !== item || maskedKey !== key;
    out.set(freeKey(maskedKey, out), maskedItem);
  }
  return changed ? Object.fromEntries(out) : object;
}

/** Two keys may differ in nothing but the form of a secret; none of their values may be lost. */
function freeKey(key: string, taken: ReadonlyMap<string, unknown>): string {
  for (let n = 2, free = key;; n++) {
    if (!taken.has(free)) return free;
    free = `${key} ${n}`;
  }
}
