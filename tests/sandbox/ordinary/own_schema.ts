interface Order {
  readonly count: number;
}

/** A Standard Schema written by hand: it changes what it checks. */
const order = {
  "~standard": {
    version: 1 as const,
    vendor: "test",
    validate(value: unknown) {
      const count = typeof value === "object" && value !== null && "count" in value
        ? Number(value.count)
        : NaN;
      return Number.isInteger(count)
        ? { value: { count: count * 10 } satisfies Order }
        : { issues: [{ message: "expected a whole number", path: ["count"] }] };
    },
    jsonSchema: {
      input: () => ({ type: "object", properties: { count: { type: "string" } }, required: ["count"] }),
      output: () => ({ type: "object" }),
    },
  },
};

export default {
  name: "OwnSchema",
  description: "Checks by itself.",
  input: order,
  run: ({ count }: Order) => count + 1,
};
