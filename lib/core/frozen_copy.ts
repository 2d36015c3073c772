/**
 * The value, frozen: lists and plain objects as copies at every depth, so that whoever gave it keeps theirs as it was; all else, such as
 * functions and instances of classes, is the same.
 */
export function frozenCopy<Value>(value: Value): Value {
  return copy(value, new Map()) as Value; // the same shape, piece by piece
}

function copy(value: unknown, done: Map<object, unknown>): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (!Array.isArray(value) && !isPlainObject(value)) return value;
  if (done.has(value)) return done.get(value);
  if (Array.isArray(value)) {
    const list: unknown[] = [];
    done.set(value, list);
    for (const item of value) list.push(copy(item, done));
    return Object.freeze(list);
  }
  const made: Record<string, unknown> = {};
  done.set(value, made);
  for (const [key, item] of Object.entries(value)) {
    if (key !== "__proto__") made[key] = copy(item, done);
    // It stays a plain property: assignment would change the prototype instead.
    else Object.defineProperty(made, key, { value: copy(item, done), enumerable: true });
  }
  return Object.freeze(made);
}

/** Whether it is an object literal, and no instance of a class. */
export function isPlainObject(value: object): boolean {
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
