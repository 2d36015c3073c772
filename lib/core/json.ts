/** A JSON value, as RFC 8259 has it: numbers are finite. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

/** A JSON object. */
export type JsonObject = { readonly [key: string]: Json };

/** Whether a JSON value is an object: not a list, not null. */
export function isJsonObject(value: Json): value is JsonObject {
  return isRecord(value);
}

/** Whether anything at all is an object and no list. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * Gives the value as plain JSON, or throws a `TypeError` that says where it is not: functions, symbols, bigints,
 * cycles, and numbers that are not finite. `undefined` at the top is `null`; an undefined property is dropped.
 */
export function toJson(value: unknown): Json {
  return convert(value, "", []);
}

function convert(value: unknown, path: string, above: readonly object[]): Json {
  switch (typeof value) {
    case "string":
    case "boolean":
      return value;
    case "number":
      if (Number.isFinite(value)) return value;
      throw notJson(path, `the number ${value}`);
    case "undefined":
      return null;
    case "object":
      return value === null ? null : convertObject(value, path, above);
    default:
      throw notJson(path, `a ${typeof value}`);
  }
}

function convertObject(value: object, path: string, above: readonly object[]): Json {
  if (above.includes(value)) throw notJson(path, "a cycle");
  if (above.length > 500) throw notJson(path, "more than 500 levels");
  const inside = [...above, value];
  if ("toJSON" in value && typeof value.toJSON === "function") return convert(value.toJSON(), path, inside);
  if (Array.isArray(value)) return value.map((item, index) => convert(item, `${path}/${index}`, inside));
  const prototype = Object.getPrototypeOf(value);
  if (prototype !== null && prototype !== Object.prototype) {
    throw notJson(path, `a ${value.constructor?.name ?? "class instance"}`);
  }
  const out: Record<string, Json> = {};
  for (const [key, item] of Object.entries(value)) {
    if (item === undefined) continue;
    const json = convert(item, `${path}/${key}`, inside);
    if (key !== "__proto__") out[key] = json;
    // It must stay a plain property: assignment would change the prototype instead.
    else {Object.defineProperty(out, key, {
        value: json,
        enumerable: true,
        writable: true,
        configurable: true,
      });}
  }
  return out;
}

function notJson(path: string, found: string): TypeError {
  return new TypeError(`not JSON: found ${found}${path === "" ? "" : ` at ${path.slice(1)}`}`);
}

/** JSON with the keys of every object in order: two values that are the same as data have the same text. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, inside: unknown) => isRecord(inside) ? sorted(inside) : inside) ??
    "null";
}

function sorted(object: object): object {
  const keys = Object.keys(object);
  if (keys.every((key, index) => index === 0 || (keys[index - 1] ?? "") < key)) return object;
  return Object.fromEntries(Object.entries(object).sort(([a], [b]) => a < b ? -1 : 1));
}
