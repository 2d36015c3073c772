import { notGranted } from "./error.ts";
import type { Json } from "../../../core/json.ts";

/**
 * The variables of a gadget: a copy of those that were granted, which it may change for itself. Every other one is as one that is not set,
 * since libraries look for `NODE_ENV`, `NO_COLOR` and `DEBUG` wherever they are, and so is `process.env` as a whole: empty, where nothing
 * was granted. Who asks `Deno` for all of them has to have been granted some.
 */
export interface Environment {
  /** As `Deno.env` has them. */
  readonly deno: Readonly<Record<string, unknown>>;
  /** As `process.env` is: every value becomes a text. */
  readonly node: Record<string, string>;
  /** Where temporary files go, as far as that was granted. */
  temporaryFolder(): string;
  /** Those of a command that it starts: its own, without the usual ones that every command has already. */
  ofCommand(own: Readonly<Record<string, string>>, isClear: boolean): Readonly<Record<string, string>>;
}

/** In place of a name: every one that there is. */
const ALL = "*";

/** What every command gets of Orrery's own, when it is the same. */
const USUAL: readonly string[] = ["PATH", "HOME", "LANG", "TERM"];

/**
 * @param granted by name
 * @param onAsked told each name that is asked for, `*` for all of them
 */
export function gadgetEnvironment(
  granted: Readonly<Record<string, string>>,
  onAsked: (name: string) => void = () => {},
): Environment {
  const values = new Map(Object.entries(granted));
  const ask = (name: string): string => {
    onAsked(name);
    return name;
  };
  const hasProperty = (name: PropertyKey): name is string =>
    typeof name === "string" && values.has(ask(name));
  const set = (name: unknown, value: unknown): void => {
    const key = nameOf(name);
    const text = String(value);
    if (text.includes("\0")) throw new TypeError(`the value of the variable "${key}" holds a NUL character`);
    values.set(key, text);
  };
  return {
    deno: {
      get: (name: unknown) => values.get(ask(nameOf(name))),
      has: (name: unknown) => values.has(ask(nameOf(name))),
      set,
      delete: (name: unknown) => void values.delete(nameOf(name)),
      toObject: () => {
        onAsked(ALL);
        if (Object.keys(granted).length > 0) return Object.fromEntries(values);
        throw notGranted(
          'Reading the variables of the environment is not allowed: none was granted that is set; write env: ["NAME"] into the ' +
            "gadget's permissions, and grant it with --allow-gadget GADGET=env:NAME",
        );
      },
    },
    node: new Proxy<Record<string, string>>({}, {
      get: (target, name, receiver) =>
        hasProperty(name) ? values.get(name) : Reflect.get(target, name, receiver),
      has: (target, name) => hasProperty(name) || Reflect.has(target, name),
      set: (_target, name, value) => {
        set(name, value);
        return true;
      },
      deleteProperty: (_target, name) => {
        if (typeof name === "string") values.delete(name);
        return true;
      },
      ownKeys: () => {
        onAsked(ALL);
        return [...values.keys()];
      },
      getOwnPropertyDescriptor: (_target, name) =>
        hasProperty(name)
          ? { value: values.get(name), writable: true, enumerable: true, configurable: true }
          : undefined,
      defineProperty: (_target, name, { value }) => {
        set(name, value);
        return true;
      },
    }),
    temporaryFolder: () => values.get(ask("TMPDIR")) ?? values.get(ask("TEMP")) ?? "/tmp",
    ofCommand(own, isClear) {
      const isNew = ([name, value]: readonly [string, string]): boolean =>
        !USUAL.includes(name) || granted[name] !== value;
      const given = isClear ? [] : [...values].filter(isNew);
      given.forEach(([name]) => onAsked(name)); // the command may read them
      return Object.fromEntries([...given, ...Object.entries(own).filter(isNew)]);
    },
  };
}

function nameOf(name: unknown): string {
  if (typeof name === "string" && name !== "" && !/[=\0]/.test(name)) return name;
  throw new TypeError(`expected the name of a variable, found ${JSON.stringify(String(name))}`);
}

/** Tells what was granted of the system. */
export type SystemFacts = (name: string) => Json;

/**
 * @param granted by the name of the permission, such as `hostname`
 * @param onAsked told each name that is asked for
 */
export function systemFacts(
  granted: Readonly<Record<string, Json>>,
  onAsked: (name: string) => void = () => {},
): SystemFacts {
  return (name) => {
    onAsked(name);
    const value = Object.hasOwn(granted, name) ? granted[name] : undefined;
    if (value !== undefined) return value;
    throw notGranted(
      `Asking the system for "${name}" is not allowed: write sys: ["${name}"] into the gadget's permissions, and grant it with ` +
        `--allow-gadget NAME=sys:${name}`,
    );
  };
}
