// A small stand-in for the facades of a gadget: enough to ask for effects and to log.

import type { MakeFacades } from "../lib/sandbox/inside/inside.ts";

/** Facades with no more than the tests of the process need. */
export function makeFacades(...[effects, options]: Parameters<MakeFacades>): ReturnType<MakeFacades> {
  const { root, env, sys, log } = options;
  const failed = (error: { readonly code: string; readonly message: string }): Error =>
    Object.assign(new Error(error.message), { code: error.code });
  return {
    globals: {
      Deno: Object.freeze({
        async readTextFile(path: string, options?: { signal?: AbortSignal }) {
          const reply = await effects.ask({ kind: "read", path }, options);
          if ("error" in reply) throw failed(reply.error);
          return new TextDecoder().decode(reply.bytes);
        },
        readTextFileSync(path: string) {
          const reply = effects.askSync({ kind: "read", path });
          if ("error" in reply) throw failed(reply.error);
          return new TextDecoder().decode(reply.bytes);
        },
        async writeFile(path: string, bytes: Uint8Array) {
          const reply = await effects.ask({ kind: "write", path, how: "replace" }, { bytes });
          if ("error" in reply) throw failed(reply.error);
        },
        root,
        env,
        sys,
      }),
      console: Object.freeze({ log: (...values: readonly unknown[]) => log(`${values.join(" ")}\n`) }),
      fetch: () => Promise.reject(new Error("not here")),
    },
    modules: { "node:fs": Object.freeze({ existsSync: () => false }) },
  };
}
