import { fail } from "./_parts/fails.ts";

interface Input {
  readonly where: "here" | "there" | "later";
}

export default {
  name: "StackTrace",
  description: "Fails at a place that is known.",
  input: { type: "object", properties: { where: { type: "string" } }, required: ["where"] },
  async run({ where }: Input): Promise<never> {
    if (where === "there") return fail(where);
    if (where === "later") await Promise.resolve();
    throw new RangeError(`failed ${where}`);
  },
};
