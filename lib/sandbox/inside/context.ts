// Which call a piece of the gadget's work belongs to, through everything it waits for. `AsyncLocalStorage` says the same, but loads a part of
// Node; this is what it is made of. Where the runtime has it no more, the only call that is open is meant.

/** What a piece of work belongs to, for as long as it goes on. */
export interface WorkContext<Value> {
  /** Begins work that belongs to `value`. */
  within(value: Value, work: () => void): void;
  /** What the work that asks belongs to. */
  current(): Value | undefined;
}

const { apply } = Reflect;

/** @param options.otherwise what the work belongs to where the runtime cannot tell */
export function workContext<Value>(
  options: { isValue(value: unknown): value is Value; otherwise(): Value | undefined },
): WorkContext<Value> {
  return runtimeContext(options.isValue) ??
    { within: (_value, work) => work(), current: options.otherwise };
}

function runtimeContext<Value>(
  isValue: (value: unknown) => value is Value,
): WorkContext<Value> | undefined {
  const core = inside(inside(Deno, inside(Deno, "internal")), "core");
  const Variable = inside(core, "AsyncVariable");
  const restore = inside(core, "setAsyncContext");
  const prototype = inside(Variable, "prototype");
  const enter = inside(prototype, "enter");
  const get = inside(prototype, "get");
  if (!isFunction(Variable) || !isFunction(restore) || !isFunction(enter) || !isFunction(get)) {
    return undefined;
  }
  const variable: object = Reflect.construct(Variable, []);
  return {
    within(value, work) {
      const before: unknown = apply(enter, variable, [value]);
      try {
        work();
      } finally {
        apply(restore, undefined, [before]);
      }
    },
    current: () => {
      const value: unknown = apply(get, variable, []);
      return isValue(value) ? value : undefined;
    },
  };
}

function inside(object: unknown, key: unknown): unknown {
  const isObject = (typeof object === "object" || typeof object === "function") && object !== null;
  return isObject && (typeof key === "string" || typeof key === "symbol")
    ? Reflect.get(object, key)
    : undefined;
}

// What the functions of the runtime take is not written down anywhere: a change is a missing name or a call without a value.
function isFunction(value: unknown): value is (...input: readonly unknown[]) => unknown {
  return typeof value === "function";
}
