export default {
  name: "BigResult",
  description: "Gives much.",
  input: { type: "object", properties: { kib: { type: "integer" } }, required: ["kib"] },
  run: ({ kib }: { kib: number }) => "0123456789abcdef".repeat(kib * 64),
};
