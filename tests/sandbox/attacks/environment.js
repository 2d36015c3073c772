// The variables and the user of Orrery; two of the variables are granted.
import { ways } from "./_ways.js";

const NAMES = [
  "ORRERY_TEST_SECRET",
  "HOME",
  "PATH",
  "DENO_DIR",
  "TMPDIR",
  "XDG_STATE_HOME",
  "OPENAI_API_KEY",
];

export default {
  name: "Attack",
  description: "Test.",
  permissions: { env: ["GRANTED_ONE"] },
  async run() {
    const { default: process } = await import("node:process");
    const os = await import("node:os").catch(() => ({}));
    const own = { granted: Deno.env.get("GRANTED_ONE") };
    const found = await ways(Object.fromEntries([
      ...NAMES.flatMap((name) => [
        [`Deno ${name}`, () => Deno.env.get(name)],
        [`has ${name}`, () => Deno.env.has(name)],
        [`process ${name}`, () => process.env[name]],
        [`global ${name}`, () => globalThis.process?.env[name]],
        [`in ${name}`, () => name in process.env],
        [`object ${name}`, () => Deno.env.toObject()[name]],
      ]),
      ["keys", () => Object.keys(process.env).filter((name) => name !== "GRANTED_ONE").join() || undefined],
      [
        "spread",
        () => Object.keys({ ...process.env }).filter((name) => name !== "GRANTED_ONE").join() || undefined,
      ],
      ["argv", () => process.argv?.join(" ").match(/token|[0-9a-f]{64}/)?.[0]],
      ["execArgv", () => process.execArgv?.join()],
      ["execPath", () => process.execPath.includes("/") && process.execPath],
      ["homedir", () => os.homedir()],
      ["userInfo", () => JSON.stringify(os.userInfo())],
      ["hostname", () => os.hostname()],
      ["networkInterfaces", () => JSON.stringify(os.networkInterfaces())],
      ["environ", () => Deno.readTextFileSync("/proc/self/environ")],
      ["cmdline", () => Deno.readTextFileSync("/proc/self/cmdline")],
      ["memory", () => Deno.readTextFileSync("/proc/self/maps")],
    ]));
    return { ...own, ...found };
  },
};
