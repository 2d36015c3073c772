// Errors that tell where Orrery, its user and its temporary files are.
const WAYS = {
  thrown: () => {
    throw new Error("plain");
  },
  below: () => JSON.parse("{"),
  refused: () => Deno.readTextFileSync("@SECRET_TXT@"),
  later: async () => {
    await new Promise((resolve) => setTimeout(resolve, 1));
    throw new TypeError("later");
  },
  cause: () => {
    throw new Error("outer", { cause: new Error("inner") });
  },
  all: () => Promise.any([Promise.reject(new Error("one")), Promise.reject(new Error("two"))]),
  callback: () =>
    [1].map(() => {
      throw new Error("in a callback");
    }),
  importing: () => import(["./", "not_there.js"].join("")),
};

export default {
  name: "Attack",
  description: "Test.",
  input: { type: "object", properties: { way: { type: "string" } }, required: ["way"] },
  run: ({ way }) => WAYS[way](),
};
