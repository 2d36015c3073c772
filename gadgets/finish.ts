import { type Gadget, type Json, onlyFields, type World } from "../lib/core/core.ts";

interface Input {
  readonly result?: Json;
}

/** `Finish`: its result is the answer of the work; what ends is decided by the engine that runs the call. */
export default function finish(_world: World): Gadget<Input> {
  return {
    name: "Finish",
    description:
      "Ends the work and gives its final answer. Call it once, last, when everything asked for is done; depend on " +
      "the calls whose results the answer needs.",
    input: onlyFields({
      result: {
        description:
          "The final answer: text, or any JSON value. Leave it out when there is nothing to hand over.",
      },
    }),
    idempotent: true,
    repeatable: false,
    timeoutMs: 10_000,
    examples: [{ input: { result: "All 12 files were converted." } }, {
      input: {},
      comment: "nothing to hand over",
    }],
    run: ({ result }) => result ?? null,
  };
}
