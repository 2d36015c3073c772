// Ports that most runs never touch are loaded at their first use: `http.ts` is long, and most runs fetch nothing.

import type { Http, Policy, Shell } from "../core/world.ts";

let shell: Promise<Shell> | undefined;

/** The commands of this machine, asking nobody. */
export const lazyShell: Shell = {
  async run(command, options) {
    shell ??= loadShell();
    return await (await shell).run(command, options);
  },
};

async function loadShell(): Promise<Shell> {
  const { hostShell }: typeof import("../host/shell.ts") = await import("../host/shell.ts" as string);
  return hostShell();
}

/** HTTP of this machine. */
export function lazyHttp(options: { readonly check: Policy["permit"] }): Http {
  let opened: Promise<Http> | undefined;
  const http = () => opened ??= loadHttp(options);
  return {
    fetch: async (...given) => await (await http()).fetch(...given),
    open: async (...given) => await (await http()).open(...given),
  };
}

async function loadHttp(options: { readonly check: Policy["permit"] }): Promise<Http> {
  const { hostHttp }: typeof import("../host/http.ts") = await import("../host/http.ts" as string);
  return hostHttp(options);
}
