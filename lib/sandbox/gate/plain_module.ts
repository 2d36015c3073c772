import { createContext, runInContext } from "node:vm";
import { isRecord, jsonProblem, SourceError } from "../../core/core.ts";
import { GATE_CODE, gateError, type SourceText } from "./source.ts";

/** A module as JavaScript, not yet fit to be run. */
export interface PlainModule {
  readonly code: string;
  /** A source map, from `code` to the source; undefined when they are the same. */
  readonly map?: string;
}

/**
 * Turns the text of a module into JavaScript.
 *
 * @throws {SourceError} where it cannot be read
 */
export async function plainModule(source: SourceText, path: string): Promise<PlainModule> {
  if (path.endsWith(".json")) return { code: jsonModule(source) };
  return /\.m?ts$/.test(path) ? await stripped(source) : { code: source.text };
}

async function stripped(source: SourceText): Promise<PlainModule> {
  const strip = await loadAmaro();
  const done = strip(source.text, source.file);
  if ("code" in done) return done;
  if ("crash" in done) throw tooDeep(source);
  const { line, column, problem } = done;
  throw new SourceError(`Cannot read this TypeScript: ${problem}`, {
    span: { file: source.file, line, column },
    source: source.text,
    code: GATE_CODE,
    hint: "Correct the syntax; JSX is not there",
  });
}

function tooDeep(source: SourceText): SourceError {
  return gateError(source, {
    at: 0,
    message: "Cannot read this TypeScript: it is nested too deeply",
    hint: "Split its longest expressions",
  });
}

/** A module whose default export is the value. */
function jsonModule(source: SourceText): string {
  try {
    JSON.parse(source.text);
  } catch (thrown) {
    throw jsonError(source, thrown);
  }
  return `export default JSON.parse(${JSON.stringify(source.text)});\n`;
}

function jsonError(source: SourceText, thrown: unknown): SourceError {
  const message = thrown instanceof Error ? thrown.message : "";
  const at = jsonProblem(source.text)?.start ?? 0;
  const words = message.replace(/ \(line \d+ column \d+\)$/, "").replace(/ in JSON at position \d+$/, "");
  return gateError(source, { at, message: `Cannot read this JSON: ${words}`, hint: "Correct it there" });
}

// Types are taken out by amaro, which is almost four megabytes: loaded with the first TypeScript only.

/** What a module that was stripped of its types is, or why it cannot be. */
type Stripped =
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
type StripTypes = (text: string, file: string) => Stripped;

let loading: Promise<StripTypes> | undefined;

/** The one of this process. */
function loadAmaro(): Promise<StripTypes> {
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
