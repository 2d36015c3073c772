import type { GadgetContext } from "orrery";

export default {
  name: "Depends",
  description: "Uses the results of others.",
  run: (_: unknown, { dependencies }: GadgetContext) =>
    Object.keys(dependencies).sort().map((id) => dependencies[id] ?? null),
};
