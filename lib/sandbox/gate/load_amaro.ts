// Loaded with the first TypeScript only: amaro is almost four megabytes.

import { createContext, runInContext } from "node:vm";
import { isRecord } from "../../core/core.ts";

/** What a module that was stripped of its types is, or why it cannot be. */
export type Stripped =
  | { readonly code: string; readonly map: string }
  /** `line` and `column` from 1. */
  | { readonly problem: string; readonly line: number; readonly column: number }
  /** It broke the reader, or was not read in time. */
  | { readonly crash: true };

/**
 * How long the reading of a text may take, ms. The package tries `<any>(`, and what stands behind `extends`, twice, and so what is in them
 * four times, eight times …: a text of some hundred characters takes for ever, and nobody knows all of those texts.
 */
const MOST_TIME = 5_000;

/** Turns TypeScript into JavaScript, with a source map. */
export type StripTypes = (text: string, file: string) => Stripped;

let loading: Promise<StripTypes> | undefined;

/** The one of this process. */
export function loadAmaro(): Promise<StripTypes> {
  loading ??= load();
  return loading;
}

async function load(): Promise<StripTypes> {
  const { loaded, restore } = await withWatchedInstance(
    (): Promise<typeof import("./amaro.ts")> => import("./amaro.ts" as string),
  );
  const inTime = createContext({});
  return (text, filename) => {
    let done: Stripped = { crash: true };
    inTime["strip"] = () => {
      const { code, map } = loaded.transformSync(text, { ...OPTIONS, filename });
      done = { code, map: map ?? "" };
    };
    try {
      runInContext("strip()", inTime, { timeout: MOST_TIME });
    } catch (thrown) {
      if (!(isLate(thrown) || thrown instanceof WebAssembly.RuntimeError || thrown instanceof RangeError)) {
        if (thrown instanceof Error) throw thrown;
        return problemOf(thrown);
      }
      restore?.();
    }
    return done;
  };
}

/** As TypeScript is run elsewhere: imports of types alone go away, and class fields stay what they are. */
const OPTIONS = {
  mode: "transform",
  sourceMap: true,
  transform: {
    verbatimModuleSyntax: false,
    importNotUsedAsValues: "remove",
    nativeClassProperties: true,
    noEmptyExport: true,
  },
} as const;

/** The error is of the context's own making, and no Error of ours. */
function isLate(thrown: unknown): boolean {
  return isRecord(thrown) && thrown["code"] === "ERR_SCRIPT_EXECUTION_TIMEOUT";
}

/** What is wrong with a text is thrown as a plain object; its columns count from 0. */
function problemOf(thrown: unknown): Stripped {
  const found = typeof thrown === "object" && thrown !== null ? thrown : {};
  const message = "message" in found && typeof found.message === "string"
    ? found.message
    : "it cannot be read";
  const line = "startLine" in found && typeof found.startLine === "number" ? found.startLine : 1;
  const column = "startColumn" in found && typeof found.startColumn === "number" ? found.startColumn : 0;
  return { problem: message, line, column: column + 1 };
}

// amaro is one WebAssembly instance for the whole process, and deep nesting overflows its stack, as a text that takes for ever is given up in the midst of it: after that it would fail for every other
// module too. It cannot be loaded again; but its memory can be put back to what it was when it was new.

type Exports = WebAssembly.Exports;

/** What was loaded, and what puts the memory of the instance made meanwhile back; undefined when none could be seen. */
interface WatchedLoad<Loaded> {
  readonly loaded: Loaded;
  readonly restore: (() => void) | undefined;
}

/** Runs `load`, and looks at the instance that it makes. */
async function withWatchedInstance<Loaded>(load: () => Promise<Loaded>): Promise<WatchedLoad<Loaded>> {
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
