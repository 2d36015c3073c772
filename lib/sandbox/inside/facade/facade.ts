// What a gadget sees in place of Deno, Node and the network. The process has no rights of its own: every effect is asked of Orrery.
import type { Effects } from "../../../core/gadget_message.ts";
import type { Json } from "../../../core/json.ts";
import { gadgetConsole } from "./console.ts";
import { denoFacade, type FacadeParts } from "./deno.ts";
import { gadgetEnvironment, systemFacts } from "./environment.ts";
import { nodeError } from "./error.ts";
import { gadgetFetch } from "./fetch.ts";
import { nodeFiles } from "./node_fs.ts";
import { nodeOs, nodeProcess } from "./node_process.ts";
import { orreryFacade } from "./orrery.ts";
import { asking } from "./steps.ts";

/** What a gadget was granted, and where it stands. */
export interface FacadeOptions {
  /** The project root, which is its working folder: absolute. */
  readonly root: string;
  /** The variables that were granted. */
  readonly env: Readonly<Record<string, string>>;
  /** What was granted of the system, by the name of the permission. */
  readonly sys: Readonly<Record<string, Json>>;
  log(text: string): void;
  /** Told which variable or fact of the system is asked for, `*` for all of them. Default: nobody is. */
  used?(kind: "env" | "sys", name: string): void;
}

/** What takes the place of the runtime. */
export interface Facades {
  /** To be put on `globalThis`: `Deno`, `fetch`, `console`, `process`. */
  readonly globals: Readonly<Record<string, unknown>>;
  /** The exports of the facade modules, by specifier. */
  readonly modules: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

/** Makes the facades of one gadget. */
export function makeFacades(
  effects: Effects,
  { root, env, sys, log, used = () => {} }: FacadeOptions,
): Facades {
  const parts: FacadeParts = {
    effects,
    root,
    environment: gadgetEnvironment(env, (name) => used("env", name)),
    facts: systemFacts(sys, (name) => used("sys", name)),
    log: (text) => log(text),
  };
  const files = once(() => nodeFiles(asking(effects, nodeError)));
  const modules: Facades["modules"] = lazily({
    "node:fs": () => files().fs,
    "node:fs/promises": () => files().promises,
    "node:os": () => nodeOs(parts),
    "node:process": () => nodeProcess(parts, modules),
    orrery: orreryFacade,
  });
  return {
    globals: {
      Deno: denoFacade(parts),
      fetch: gadgetFetch(effects),
      console: gadgetConsole(parts.log),
      process: modules["node:process"],
    },
    modules,
  };
}

/** Most gadgets import none of them, and a process starts anew for each. */
function lazily(
  makers: Readonly<Record<string, () => Readonly<Record<string, unknown>>>>,
): Facades["modules"] {
  const modules: Record<string, Readonly<Record<string, unknown>>> = {};
  for (const [name, make] of Object.entries(makers)) {
    Object.defineProperty(modules, name, { get: once(make), enumerable: true });
  }
  return Object.freeze(modules);
}

function once<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | undefined;
  return () => (made ??= { value: make() }).value;
}
