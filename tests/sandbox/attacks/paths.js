// data/ may be read, and out/ written; everything beside them is tried by every way to write a path.
import { ways } from "./_ways.js";

const READ = [
  "data/../../outside/secret.txt",
  "data/./../../outside/secret.txt",
  "data//..//..//outside//secret.txt",
  "data/fine.txt/../../../outside/secret.txt",
  "data\\..\\..\\outside\\secret.txt",
  "@SECRET_TXT@",
  "file://@SECRET_TXT@",
  "/proc/self/root@SECRET_TXT@",
  "/proc/self/cwd/../outside/secret.txt",
  "/proc/thread-self/root@SECRET_TXT@",
  "//@SECRET_TXT@",
  "/./@SECRET_TXT@",
  "data/%2e%2e/%2e%2e/outside/secret.txt",
  "data/link/secret.txt",
  "data/linked.txt",
  "data/chain.txt",
  "data/../orrery.yaml",
  "data/../gadgets/attack.js",
  "data-more/secret.txt",
  "data\0/../../outside/secret.txt",
  "@SECRET_TXT@\0.txt",
  "DATA/../../outside/secret.txt",
  "~/secret.txt",
  "data/..%2f..%2foutside/secret.txt",
  "data/．．/outside/secret.txt",
];
const WRITE = [
  "out/../../outside/secret.txt",
  "@SECRET_TXT@",
  "out/link/secret.txt",
  "out/linked.txt",
  "data/fine.txt",
  "out/../orrery.yaml",
  "out/../gadgets/_ways.js",
  "/proc/self/root@SECRET_TXT@",
  "out/dangling.txt",
  "out/link/new.txt",
];

const folderOf = (path) => path.slice(0, path.lastIndexOf("/") + 1);
const isData = (path) => folderOf(path) === "data/";
/** A link that lies in out/ may be taken away and replaced: only what it leads to is not its own. */
const isOwn = (path) => /^out\/(linked|dangling)\.txt$/.test(path);
const urlOf = (path) => new URL(path, "file://@PROJECT@/");

export default {
  name: "Attack",
  description: "Test.",
  permissions: { read: ["data"], write: ["out"] },
  async run() {
    const fs = await import("node:fs");
    const later = await import("node:fs/promises");
    const read = READ.flatMap((path) => [
      [`Deno ${path}`, () => Deno.readTextFileSync(path)],
      [`later ${path}`, () => Deno.readTextFile(path)],
      [`bytes ${path}`, () => Deno.readFile(path)],
      [`URL ${path}`, () => Deno.readTextFileSync(urlOf(path))],
      [`node ${path}`, () => fs.readFileSync(path, "utf8")],
      [`promises ${path}`, () => later.readFile(path, "utf8")],
      [
        `copy ${path}`,
        () => (Deno.copyFileSync(path, "out/copied.txt"), Deno.readTextFileSync("out/copied.txt")),
      ],
      [`rename ${path}`, () => (Deno.renameSync(path, "out/renamed.txt"), "renamed")],
      [`stat ${path}`, () => Deno.statSync(path).size],
      [`open ${path}`, () => Deno.openSync(path)],
      [`realPath ${path}`, () => Deno.realPathSync(path)],
      [`list ${path}`, () => isData(path) ? undefined : [...Deno.readDirSync(folderOf(path))].length],
    ]).filter(([name]) => !/^(list|realPath|stat) data\/(link(ed)?|chain)/.test(name) || true);
    const written = WRITE.flatMap((path) => [
      [`write ${path}`, () => (Deno.writeTextFileSync(path, "written"), "written")],
      [`append ${path}`, () => (Deno.writeTextFileSync(path, "written", { append: true }), "written")],
      [`later ${path}`, async () => (await Deno.writeTextFile(path, "written"), "written")],
      [`node ${path}`, () => (fs.writeFileSync(path, "written"), "written")],
      [`appendFile ${path}`, () => (fs.appendFileSync(path, "written"), "written")],
      [
        `mkdir ${path}`,
        () => isOwn(path) ? undefined : (Deno.mkdirSync(`${path}.folder`, { recursive: true }), "made"),
      ],
      [`copy to ${path}`, () => (Deno.copyFileSync("data/fine.txt", path), "copied")],
      [
        `rename to ${path}`,
        () => isOwn(path) ? undefined : (Deno.renameSync("out/own.txt", path), "renamed"),
      ],
      [`remove ${path}`, () => isOwn(path) ? undefined : (Deno.removeSync(path), "removed")],
      [`truncate ${path}`, () => (Deno.truncateSync(path), "cut")],
      [`chmod ${path}`, () => (Deno.chmodSync(path, 0o777), "changed")],
      [`utime ${path}`, () => (Deno.utimeSync(path, 1, 1), "changed")],
    ]);
    const links = [
      [
        "symlink",
        () => (Deno.symlinkSync("@OUTSIDE@", "out/planted"), Deno.readTextFileSync("out/planted/secret.txt")),
      ],
      [
        "hard link",
        () => (Deno.linkSync("@SECRET_TXT@", "out/hard.txt"), Deno.readTextFileSync("out/hard.txt")),
      ],
      ["node symlink", () => (fs.symlinkSync("@OUTSIDE@", "out/planted2"), "planted")],
      ["chdir", () => (Deno.chdir("@OUTSIDE@"), Deno.readTextFileSync("secret.txt"))],
      [
        "recursive remove",
        () => (Deno.removeSync("out/link", { recursive: true }), Deno.statSync("@SECRET_TXT@")),
      ],
      ["remove the root", () => (Deno.removeSync(".", { recursive: true }), "removed")],
    ];
    return await ways(Object.fromEntries([...read, ...written, ...links]));
  },
};
