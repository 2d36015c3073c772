// Everything may be read and written in the project; what Orrery itself keeps there, and what decides about grants, may not be written.
import { ways } from "./_ways.js";

const KEPT = [
  ".orrery/orrery.db",
  ".orrery/orrery.db-wal",
  ".orrery/gadgets.json",
  "orrery.lock",
  "./.orrery/../.orrery/orrery.db",
  "data/../.orrery/orrery.db",
  "@PROJECT@/.orrery/orrery.db",
  "@PROJECT@/orrery.lock",
  "to-state/orrery.db",
  ".orrery//orrery.db",
  ".orrery/./gadgets.json",
];

export default {
  name: "Attack",
  description: "Test.",
  permissions: { read: true, write: true },
  async run() {
    const fs = await import("node:fs");
    Deno.writeTextFileSync("own.txt", "forged");
    return await ways(Object.fromEntries([
      ...KEPT.flatMap((path) => [
        [`write ${path}`, () => (Deno.writeTextFileSync(path, "forged"), "written")],
        [`append ${path}`, () => (Deno.writeTextFileSync(path, "forged", { append: true }), "written")],
        [`create ${path}`, () => (Deno.writeTextFileSync(path, "forged", { createNew: true }), "written")],
        [`node ${path}`, () => (fs.writeFileSync(path, "forged"), "written")],
        [`append node ${path}`, () => (fs.appendFileSync(path, "forged"), "written")],
        [`copy ${path}`, () => (Deno.copyFileSync("own.txt", path), "copied")],
        [`rename ${path}`, () => (Deno.renameSync("own.txt", path), "renamed")],
        [`away ${path}`, () => (Deno.renameSync(path, "taken.txt"), "renamed")],
        [`remove ${path}`, () => (Deno.removeSync(path), "removed")],
      ]),
      ["remove the folder", () => (Deno.removeSync(".orrery", { recursive: true }), "removed")],
      ["rename the folder", () => (Deno.renameSync(".orrery", "elsewhere"), "renamed")],
      ["a folder in its place", () => (Deno.mkdirSync("orrery.lock"), "made")],
    ]));
  },
};
