// amaro is one WebAssembly instance for the whole process, and deep nesting overflows its stack: after that it would fail for every other
// module too. It cannot be loaded again; but its memory can be put back to what it was when it was new.

type Exports = WebAssembly.Exports;
/** Takes bytes apart that were compressed with gzip. */
type Gunzip = (bytes: Uint8Array) => Uint8Array;

/** What was loaded, and what puts the memory of the instance made meanwhile back; undefined when none could be seen. */
export interface WatchedLoad<Loaded> {
  readonly loaded: Loaded;
  readonly restore: (() => void) | undefined;
}

/**
 * Runs `load`, and looks at the instance that it makes.
 *
 * @param options.gunzip for WebAssembly that is compressed, as in the compiled binary (`.ci/pack_wasm.ts`). Default: none is
 */
export async function withWatchedInstance<Loaded>(
  load: () => Promise<Loaded>,
  { gunzip }: { readonly gunzip?: Gunzip | undefined } = {},
): Promise<WatchedLoad<Loaded>> {
  const { Instance, Module } = WebAssembly;
  let made: Exports | undefined;
  WebAssembly.Instance = new Proxy(Instance, {
    construct(target, args, newTarget) {
      const instance: unknown = Reflect.construct(target, args, newTarget);
      if (instance instanceof Instance && "transformSync" in instance.exports) made = instance.exports;
      return Object(instance);
    },
  });
  if (gunzip !== undefined) WebAssembly.Module = unpacking(Module, gunzip);
  try {
    const loaded = await load();
    return { loaded, restore: made && restorer(made) };
  } finally {
    WebAssembly.Instance = Instance;
    WebAssembly.Module = Module;
  }
}

function unpacking(Module: typeof WebAssembly.Module, gunzip: Gunzip): typeof WebAssembly.Module {
  return new Proxy(Module, {
    construct(target, [bytes, ...rest]: unknown[], newTarget) {
      const isPacked = bytes instanceof Uint8Array && bytes[0] === 0x1f && bytes[1] === 0x8b;
      return Object(Reflect.construct(target, [isPacked ? gunzip(bytes) : bytes, ...rest], newTarget));
    },
  });
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
