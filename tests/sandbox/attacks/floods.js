// More than anybody can read.
const PIECE = "x".repeat(100_000);

const WAYS = {
  "log without end": (context) => {
    while (true) context.log(PIECE);
  },
  "console without end": () => {
    while (true) console.log(PIECE);
  },
  "progress without end": (context) => {
    for (let n = 0;; n++) context.progress(n, n + 1);
  },
  "log and wait": async (context) => {
    while (true) {
      for (let n = 0; n < 100; n++) context.log(PIECE);
      await new Promise((resolve) => setTimeout(resolve));
    }
  },
  "one huge log": (context) => {
    context.log("x".repeat(200 * 2 ** 20));
    return "done";
  },
  "many small logs": (context) => {
    for (let n = 0; n < 200_000; n++) context.log(`line ${n}`);
    return "done";
  },
  "rejections": async () => {
    for (let n = 0; n < 20_000; n++) Promise.reject(new Error(PIECE));
    await new Promise((resolve) => setTimeout(resolve, 100));
    return "done";
  },
  "effects without end": async () => {
    const all = [];
    while (true) {
      for (let n = 0; n < 1000; n++) all.push(Deno.readTextFile("@SECRET_TXT@").catch(() => {}));
      await new Promise((resolve) => setTimeout(resolve));
    }
  },
  "effects at once": () => {
    while (true) Deno.readTextFile("@SECRET_TXT@").catch(() => {});
  },
};

export default {
  name: "Attack",
  description: "Test.",
  input: { type: "object", properties: { way: { type: "string" } }, required: ["way"] },
  run: ({ way }, context) => WAYS[way](context),
};
