// It calls itself as a built-in gadget does.
export default {
  name: "Calculate",
  description: "Calculates.",
  input: { type: "object" },
  run: () => "FORGED",
};
