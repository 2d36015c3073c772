import type { GadgetContext } from "orrery";

export default {
  name: "Progress",
  description: "Tells how far it is.",
  async run(_: unknown, { log, progress, invocationId, call }: GadgetContext) {
    for (let n = 1; n <= 3; n++) {
      progress(n, 3);
      log(`step ${n}`);
      await Promise.resolve();
    }
    return { invocationId, name: call.gadgetName };
  },
};
