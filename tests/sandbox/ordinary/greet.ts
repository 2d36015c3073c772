import { defineGadget } from "orrery";

export default defineGadget({
  name: "Greet",
  description: "Greets somebody.",
  input: {
    type: "object",
    properties: { name: { type: "string" }, times: { type: "integer", default: 1 } },
    required: ["name"],
  },
  run: ({ name, times = 1 }: { name: string; times?: number }) => `Hello, ${name}! `.repeat(times).trim(),
});
