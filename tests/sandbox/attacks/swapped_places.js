// data/ may be read and out/ written, while somebody swaps what lies there for links to elsewhere, all the time.
const READS = ["data/link", "data/file.txt", "data/folder/secret.txt"];
const WRITES = ["out/link", "out/file.txt", "out/folder/secret.txt", "out/folder/new.txt"];
const FOR_MS = 2500;
// On a busy machine it takes longer until enough was read to say anything.
const AT_MOST_MS = 12_000;

const counts = { fine: 0, secret: 0, refused: 0, written: 0 };

async function read(work) {
  try {
    const value = await work();
    const text = typeof value === "string" ? value : new TextDecoder().decode(value);
    counts[text.includes("TOP" + "SECRET") ? "secret" : "fine"]++;
  } catch {
    counts.refused++;
  }
}

async function write(work) {
  try {
    await work();
    counts.written++;
  } catch {
    counts.refused++;
  }
}

export default {
  name: "Attack",
  description: "Test.",
  permissions: { read: ["data"], write: ["out"] },
  async run() {
    const fs = await import("node:fs");
    const start = Date.now();
    const isEnough = () => Date.now() - start > (counts.fine > 40 ? FOR_MS : AT_MOST_MS);
    while (!isEnough()) {
      for (const path of READS) {
        await read(() => Deno.readTextFileSync(path));
        await read(() => Deno.readFile(path));
        await read(() => fs.readFileSync(path, "utf8"));
        await read(() => (Deno.copyFileSync(path, "out/copied.txt"), "fine"));
        await write(() => Deno.statSync(path));
      }
      await read(() => [...Deno.readDirSync("data/folder")].map(({ name }) => name).join());
      await read(() => fs.readFileSync("data/link"));
      for (const path of WRITES) {
        await write(() => Deno.writeTextFileSync(path, "overwritten"));
        await write(() => Deno.writeTextFile(path, "overwritten", { append: true }));
        await write(() => Deno.copyFileSync("data/own.txt", path));
      }
      await write(() => Deno.mkdirSync("out/folder/made", { recursive: true }));
      await write(() => Deno.removeSync("out/folder/secret.txt"));
      await write(() => Deno.renameSync("out/folder/secret.txt", "out/taken.txt"));
      await write(() => Deno.writeTextFileSync("out/own.txt", "own"));
      await write(() => Deno.renameSync("out/own.txt", "out/folder/secret.txt"));
    }
    return counts;
  },
};
