// A call of a warm gadget without the engine around it: only the way to its process and back.

import { join } from "node:path";
import { hostFiles } from "../../lib/host/files/files.ts";
import { gadgetProcesses } from "../../lib/host/commands/gadget_process.ts";
import { facadeModules } from "../../lib/sandbox/facade_modules.ts";
import { GadgetHost } from "../../lib/sandbox/gadget/host.ts";
import { mapStack } from "../../lib/sandbox/gate/map_stack.ts";
import { prepareModules } from "../../lib/sandbox/gate/prepare_modules.ts";
import { median } from "./_median.ts";

const MIB = 2 ** 20;

/** The p50 of a call of the gadget in this file of the folder, in µs; what the gadget itself takes is nearly nothing. */
export async function warmCallUs(
  folder: string,
  file: string,
  options: { readonly input: (n: number) => { readonly n: number }; readonly calls: number },
): Promise<number> {
  const disk = hostFiles({ root: folder });
  const graph = await prepareModules(join(folder, file), {
    disk,
    cwd: folder,
    compiled: false,
    facades: facadeModules,
  });
  const host = new GadgetHost({
    graph,
    facades: facadeModules,
    root: folder,
    surroundings: () => ({ env: {}, sys: {} }),
    limits: { idleMs: 30_000, memoryBytes: 256 * MIB, maxFrameBytes: 64 * MIB, cancelMs: 250 },
    start: gadgetProcesses(),
    shownFile: file,
    perform: () => Promise.resolve({ error: { code: "refused", message: "nothing is allowed here" } }),
    mapStack: (stack, folderUrl) => mapStack(stack, { graph, folderUrl, cwd: folder }),
  });
  try {
    const times: number[] = [];
    const { signal } = new AbortController();
    for (let n = 0; n < options.calls; n++) {
      const input = options.input(n);
      const call = { gadgetName: "Warm", invocationId: `c${n}`, parameters: input };
      const start = performance.now();
      await host.call(input, {
        invocationId: `c${n}`,
        dependencies: {},
        call,
        signal,
        log() {},
        progress() {},
      });
      times.push(performance.now() - start);
    }
    return median(times.slice(times.length / 10)) * 1000;
  } finally {
    await host.end();
  }
}
