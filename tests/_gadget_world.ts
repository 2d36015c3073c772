import { type FacadeOptions, makeFacades } from "../lib/sandbox/inside/facade/facade.ts";
import { MemoryEffects } from "./_memory_effects.ts";

/** What a gadget finds, with the types that it believes in. */
export interface GadgetWorld {
  readonly Deno: typeof Deno;
  readonly fetch: typeof fetch;
  readonly console: typeof console;
  readonly process: typeof import("node:process");
  readonly fs: typeof import("node:fs");
  readonly fsp: typeof import("node:fs/promises");
  readonly os: typeof import("node:os");
  readonly orrery: { readonly defineGadget: typeof import("../mod.ts").defineGadget };
  readonly effects: MemoryEffects;
  /** What was logged. */
  readonly logs: readonly string[];
}

/** The facades of a gadget over files in memory. */
export function gadgetWorld(
  files: Readonly<Record<string, string>> = {},
  options: Partial<FacadeOptions> = {},
): GadgetWorld {
  const effects = new MemoryEffects(files);
  const logs: string[] = [];
  const { globals, modules } = makeFacades(effects, {
    root: "/project",
    env: {},
    sys: {},
    log: (text) => logs.push(text),
    ...options,
  });
  const world: unknown = {
    ...globals,
    fs: modules["node:fs"],
    fsp: modules["node:fs/promises"],
    os: modules["node:os"],
    orrery: modules.orrery,
    effects,
    logs,
  };
  return world as GadgetWorld; // what a gadget believes; the tests find out
}
