// Text that never ends, as fast as it is taken and faster.
const WAYS = {
  async *small() {
    while (true) yield "small ";
  },
  async *large() {
    while (true) yield "x".repeat(5_000_000);
  },
  async *empty() {
    while (true) yield "";
  },
  async *slow() {
    while (true) {
      yield ".";
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  },
  async *neverEnds() {
    try {
      while (true) yield "again ";
    } finally {
      await new Promise(() => {});
    }
  },
  async *notText() {
    yield { not: "text" };
    yield 1n;
  },
  async *lateThrow() {
    yield "before";
    throw new Error("in the middle");
  },
  byHand: () => ({ [Symbol.asyncIterator]: () => ({ next: () => ({ done: false, value: "at once " }) }) }),
};

export default {
  name: "Attack",
  description: "Test.",
  input: { type: "object", properties: { way: { type: "string" } }, required: ["way"] },
  run: ({ way }) => WAYS[way](),
};
