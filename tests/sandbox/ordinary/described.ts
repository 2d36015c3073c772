import { defineGadget } from "orrery";

export default defineGadget({
  name: "Described",
  description: "Says all that a gadget can say of itself.",
  input: { type: "object", properties: { n: { type: "number", minimum: 1 } }, required: ["n"] },
  output: { type: "number" },
  examples: [{ input: { n: 1 }, comment: "gives 2" }],
  idempotent: true,
  exclusive: true,
  untrusted: true,
  timeoutMs: 1500,
  run: ({ n }: { n: number }) => n + 1,
});
