import process from "node:process";

export default {
  name: "Environment",
  description: "Reads variables.",
  permissions: { env: ["REGION"] },
  run: () => ({
    region: Deno.env.get("REGION"),
    node: process.env.REGION ?? null,
    other: Deno.env.get("ORRERY_TEST_SECRET") ?? null,
    has: Deno.env.has("REGION"),
  }),
};
