// amaro is one WebAssembly instance for the whole process, and deep nesting overflows its stack: after that it would fail for every other
// module too. It cannot be loaded again; but its memory can be put back to what it was when it was new.

type Exports = WebAssembly.Exports;

/** What was loaded, and what puts the memory of the instance made meanwhile back; undefined when none could be seen. */
export interface WatchedLoad<Loaded> {
  readonly loaded: Loaded;
  readonly restore: (() => void) | undefined;
}

/** Runs `load`, and looks at the instance that it makes. */
export async function withWatchedInstance<Loaded>(load: () => Promise<Loaded>): Promise<WatchedLoad<Loaded>> {
  const { Instance } = WebAssembly;
  let made: Exports | undefined;
  WebAssembly.Instance = new Proxy(Instance, {
    construct(target, args, newTarget) {
      const instance: unknown = Reflect.construct(target, args, newTarget);
      if (instance instanceof Instance && "transformSync" in instance.exports) made = instance.exports;
      return Object(instance);
    },
  });
  try {
    const loaded = await load();
    return { loaded, restore: made && restorer(made) };
  } finally {
    WebAssembly.Instance = Instance;
  }
}

function restorer({ memory, __wbindgen_add_to_stack_pointer: move }: Exports): (() => void) | undefined {
  if (!(memory instanceof WebAssembly.Memory) || typeof move !== "function") return undefined;
  const image = new Uint8Array(memory.buffer).slice();
  const top: unknown = move(0);
  return typeof top !== "number" ? undefined : () => {
    new Uint8Array(memory.buffer).fill(0).set(image);
    move(top - Number(move(0)));
  };
}
