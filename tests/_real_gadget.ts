// A gadget of a text, in a real process of its own, without a project around it.

import { join } from "node:path";
import { hostFiles } from "../lib/host/files/files.ts";
import { gadgetProcesses } from "../lib/host/commands/gadget_process.ts";
import { facadeModules } from "../lib/sandbox/facade_modules.ts";
import { mapStack } from "../lib/sandbox/gate/map_stack.ts";
import { prepareModules } from "../lib/sandbox/gate/prepare_modules.ts";
import { GadgetHost, type GadgetHostOptions } from "../lib/sandbox/gadget/host.ts";
import { LIMITS } from "./_fake_gadget.ts";

/** What such a gadget has when nothing else is said. */
export const REAL_LIMITS = {
  ...LIMITS,
  memoryBytes: 256 * 2 ** 20,
  maxFrameBytes: 64 * 2 ** 20,
  startMs: 30_000,
  cancelMs: 250,
};

/** A host of such a gadget; `await using` ends it. */
export interface RealGadget extends AsyncDisposable {
  readonly host: GadgetHost;
}

/** @param text of its module */
export async function realGadget(
  text: string,
  options: Partial<GadgetHostOptions> = {},
): Promise<RealGadget> {
  const folder = await Deno.realPath(await Deno.makeTempDir());
  const path = join(folder, "real.ts");
  await Deno.writeTextFile(path, text);
  const disk = hostFiles({ root: folder });
  const graph = await prepareModules(path, { disk, cwd: folder, compiled: false, facades: facadeModules });
  const host = new GadgetHost({
    graph,
    facades: facadeModules,
    root: folder,
    surroundings: () => ({ env: {}, sys: {} }),
    start: gadgetProcesses(),
    shownFile: "real.ts",
    perform: () => Promise.reject(new Error("no effects here")),
    mapStack: (stack, folderUrl) => mapStack(stack, { graph, folderUrl, cwd: folder }),
    limits: REAL_LIMITS,
    ...options,
  });
  return {
    host,
    async [Symbol.asyncDispose]() {
      await host.end();
      await Deno.remove(folder, { recursive: true });
    },
  };
}
