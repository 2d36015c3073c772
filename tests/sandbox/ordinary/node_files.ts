import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { readFile, rm, writeFile } from "node:fs/promises";
import { basename, extname, join } from "node:path";
import process from "node:process";
import { Buffer } from "node:buffer";

export default {
  name: "NodeFiles",
  description: "Uses files as Node does.",
  permissions: { read: ["data", "out"], write: ["out"] },
  async run() {
    const path = join("data", "..", "data", "a.txt");
    mkdirSync("out/made", { recursive: true });
    writeFileSync("out/made/b.txt", Buffer.from("later"));
    await writeFile("out/made/c.txt", "c");
    await rm("out/made/c.txt");
    let code = "";
    try {
      readFileSync("data/none.txt");
    } catch (error) {
      code = error instanceof Error && "code" in error ? String(error.code) : "none";
    }
    return {
      path,
      name: basename(path, extname(path)),
      text: readFileSync(path, "utf8"),
      later: await readFile("out/made/b.txt", { encoding: "utf8" }),
      exists: [existsSync("data/a.txt"), existsSync("data/none.txt")],
      names: readdirSync("out/made"),
      isFolder: statSync("data").isDirectory(),
      code,
      hasEnv: process.env.HOME !== undefined,
    };
  },
};
