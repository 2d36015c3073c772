// Results that are larger than anybody wants, or deeper.
const WAYS = {
  text: () => "x".repeat(100 * 2 ** 20),
  escapes: () => "\u0001".repeat(30 * 2 ** 20),
  numbers: () => new Array(5_000_000).fill(0.123456789),
  keys: () =>
    Object.fromEntries(Array.from({ length: 300_000 }, (_, n) => [`key ${n} ${"x".repeat(50)}`, n])),
  deep: () => {
    let value = null;
    for (let n = 0; n < 200_000; n++) value = [value];
    return value;
  },
  wide: () => {
    let value = "x";
    for (let n = 0; n < 30; n++) value = [value, value];
    return value;
  },
  bytes: () => new Uint8Array(50_000_000),
  message: () => {
    throw new Error("x".repeat(50 * 2 ** 20));
  },
  stack: () => {
    const error = new Error("short");
    error.stack = "x".repeat(50 * 2 ** 20);
    throw error;
  },
  name: () => {
    const error = new Error("short");
    error.name = "N".repeat(50 * 2 ** 20);
    throw error;
  },
};

export default {
  name: "Attack",
  description: "Test.",
  input: { type: "object", properties: { way: { type: "string" } }, required: ["way"] },
  run: ({ way }) => WAYS[way](),
};
