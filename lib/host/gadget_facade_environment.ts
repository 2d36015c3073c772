/** The variables of a gadget: a copy of those that were granted, which it may change for itself. */
export interface Environment {
  /** As `Deno.env` has them. */
  readonly deno: Readonly<Record<string, unknown>>;
  /** As `process.env` is: every value becomes a text. */
  readonly node: Record<string, string>;
  /** Those of a command that it starts: its own, without the usual ones that every command has already. */
  ofCommand(own: Readonly<Record<string, string>>, isClear: boolean): Readonly<Record<string, string>>;
}

/** What every command gets of Orrery's own, when it is the same. */
const USUAL: readonly string[] = ["PATH", "HOME", "LANG", "TERM"];

/** @param granted by name */
export function gadgetEnvironment(granted: Readonly<Record<string, string>>): Environment {
  const values = new Map(Object.entries(granted));
  const set = (name: unknown, value: unknown): void => {
    const key = nameOf(name);
    const text = String(value);
    if (text.includes("\0")) throw new TypeError(`the value of the variable "${key}" holds a NUL character`);
    values.set(key, text);
  };
  return {
    deno: {
      get: (name: unknown) => values.get(nameOf(name)),
      has: (name: unknown) => values.has(nameOf(name)),
      set,
      delete: (name: unknown) => void values.delete(nameOf(name)),
      toObject: () => Object.fromEntries(values),
    },
    node: new Proxy<Record<string, string>>({}, {
      get: (target, name, receiver) =>
        typeof name === "string" && values.has(name) ? values.get(name) : Reflect.get(target, name, receiver),
      has: (target, name) => (typeof name === "string" && values.has(name)) || Reflect.has(target, name),
      set: (_target, name, value) => {
        set(name, value);
        return true;
      },
      deleteProperty: (_target, name) => {
        if (typeof name === "string") values.delete(name);
        return true;
      },
      ownKeys: () => [...values.keys()],
      getOwnPropertyDescriptor: (_target, name) =>
        typeof name === "string" && values.has(name)
          ? { value: values.get(name), writable: true, enumerable: true, configurable: true }
          : undefined,
      defineProperty: (_target, name, { value }) => {
        set(name, value);
        return true;
      },
    }),
    ofCommand: (own, isClear) =>
      Object.fromEntries(
        [...isClear ? [] : values, ...Object.entries(own)].filter(([name, value]) =>
          !USUAL.includes(name) || granted[name] !== value
        ),
      ),
  };
}

function nameOf(name: unknown): string {
  if (typeof name === "string" && name !== "" && !/[=\0]/.test(name)) return name;
  throw new TypeError(`expected the name of a variable, found ${JSON.stringify(String(name))}`);
}
