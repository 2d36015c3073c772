export default {
  name: "StreamWords",
  description: "Says one word after the other.",
  input: { type: "object", properties: { count: { type: "integer" } }, required: ["count"] },
  async *run({ count }: { count: number }): AsyncGenerator<string> {
    for (let n = 1; n <= count; n++) {
      yield `word ${n}${n === count ? "." : ", "}`;
      if (n % 10 === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    }
  },
};
