// Loaded with the first TypeScript only: amaro is almost four megabytes.

import { withWatchedInstance } from "./amaro_instance.ts";

/** What a module that was stripped of its types is, or why it cannot be. */
export type Stripped =
  | { readonly code: string; readonly map: string }
  /** `line` and `column` from 1. */
  | { readonly problem: string; readonly line: number; readonly column: number }
  | { readonly crash: true };

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
  return (text, filename) => {
    try {
      const { code, map } = loaded.transformSync(text, { ...OPTIONS, filename });
      return { code, map: map ?? "" };
    } catch (thrown) {
      if (!(thrown instanceof Error)) return problemOf(thrown);
      if (!(thrown instanceof WebAssembly.RuntimeError || thrown instanceof RangeError)) throw thrown;
      restore?.();
      return { crash: true };
    }
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
