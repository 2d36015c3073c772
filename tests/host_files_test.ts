import assert from "node:assert/strict";
import { closeSync, constants, openSync } from "node:fs";
import { join } from "node:path";
import { FileError, type FileErrorCode, type Files, memoryFiles } from "../mod.ts";
import { exactFiles } from "../lib/host/files/changes.ts";
import { hostFiles } from "../lib/host/files/files.ts";
import { posixTest } from "./_posix_test.ts";

type Content = Readonly<Record<string, string | Uint8Array>>;

/** A folder that is gone after the test. */
async function withFolder(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "orrery-files-" }));
  try {
    await work(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

function fill(folder: string, content: Content): void {
  for (const [path, text] of Object.entries(content)) {
    const bytes = typeof text === "string" ? new TextEncoder().encode(text) : text;
    Deno.mkdirSync(join(folder, path, ".."), { recursive: true });
    Deno.writeFileSync(join(folder, path), bytes);
  }
}

async function fails(work: Promise<unknown>, expected: { code: FileErrorCode; message: string | RegExp }) {
  const error = await work.then(() => undefined, (error: unknown) => error);
  assert.ok(error instanceof FileError, `expected a FileError, found ${error}`);
  assert.equal(error.code, expected.code);
  if (typeof expected.message === "string") assert.equal(error.message, expected.message);
  else assert.match(error.message, expected.message);
}

const CONTENT: Content = {
  "a.txt": "Ä\n",
  "bom.txt": new Uint8Array([0xef, 0xbb, 0xbf, 0x68, 0x69]),
  "b/c.txt": "c",
  "b/d/e.txt": "e",
  "picture.bin": new Uint8Array([0x61, 0xc3, 0xa4, 0xff, 0x62]),
  "cut.txt": new Uint8Array([0x61, 0xe2, 0x82]),
  "surrogate.txt": new Uint8Array([0xed, 0xa0, 0x80]),
  "empty.txt": "",
};

/** What every implementation of `Files` does. */
const CONTRACT: Readonly<Record<string, (files: Files, root: string) => Promise<void>>> = {
  "reads text and bytes, by relative and absolute paths": async (files, root) => {
    assert.equal(await files.readText("a.txt"), "Ä\n");
    assert.equal(await files.readText("./b/../a.txt"), "Ä\n");
    assert.equal(await files.readText(join(root, "b/c.txt")), "c");
    assert.deepEqual([...await files.readBytes("a.txt")], [0xc3, 0x84, 0x0a]);
    assert.equal(await files.readText("empty.txt"), "");
  },
  "drops a byte order mark from text, not from bytes": async (files) => {
    assert.equal(await files.readText("bom.txt"), "hi");
    assert.equal((await files.readBytes("bom.txt")).length, 5);
  },
  "names the first byte that is not UTF-8": async (files) => {
    const message = (path: string, byte: string, offset: number) =>
      `Cannot read "${path}": it is not UTF-8 text: the first wrong byte is 0x${byte} at offset ${offset}`;
    await fails(files.readText("picture.bin"), {
      code: "not-text",
      message: message("picture.bin", "FF", 3),
    });
    await fails(files.readText("cut.txt"), { code: "not-text", message: message("cut.txt", "E2", 1) });
    await fails(files.readText("surrogate.txt"), {
      code: "not-text",
      message: message("surrogate.txt", "ED", 0),
    });
  },
  "says what is wrong with a path": async (files) => {
    await fails(files.readText("no.txt"), {
      code: "not-found",
      message: `Cannot read "no.txt": no such file`,
    });
    await fails(files.readBytes("b"), {
      code: "is-folder",
      message: `Cannot read "b": it is a folder, not a file`,
    });
    await fails(files.readText("a.txt/x"), {
      code: "not-folder",
      message: `Cannot read "a.txt/x": a part of the path is a file, not a folder`,
    });
    await fails(files.list("a.txt"), {
      code: "not-folder",
      message: `Cannot list "a.txt": it is a file, not a folder`,
    });
    await fails(files.list("no"), { code: "not-found", message: `Cannot list "no": no such folder` });
    await fails(files.stat("no"), {
      code: "not-found",
      message: `Cannot look at "no": no such file or folder`,
    });
    await fails(files.writeText("b", "x"), {
      code: "is-folder",
      message: `Cannot write "b": it is a folder, not a file`,
    });
    await fails(files.writeText("a.txt/x/y", "x"), {
      code: "not-folder",
      message: `Cannot write "a.txt/x/y": a part of the path is a file, not a folder`,
    });
    await fails(files.readText("a\0b"), {
      code: "other",
      message: `Cannot read "a\\u0000b": the path holds a NUL character`,
    });
  },
  "writes, overwrites, and makes the folders on the way": async (files) => {
    await files.writeText("new/deep/f.txt", "1");
    await files.writeText("new/deep/f.txt", "zwölf");
    assert.equal(await files.readText("new/deep/f.txt"), "zwölf");
    assert.deepEqual(await files.list("new/deep"), [{ name: "f.txt", kind: "file", link: false }]);
  },
  "lists sorted by name, and tells what is at a path": async (files) => {
    assert.deepEqual(await files.list("b"), [
      { name: "c.txt", kind: "file", link: false },
      { name: "d", kind: "folder", link: false },
    ]);
    assert.deepEqual(await files.stat("a.txt"), { kind: "file", size: 3 });
    assert.equal((await files.stat("b")).kind, "folder");
    assert.equal((await files.stat(".")).kind, "folder");
  },
  "gives the absolute path, also of what is not there": async (files, root) => {
    assert.equal(await files.resolve("b/../a.txt"), join(root, "a.txt"));
    assert.equal(await files.resolve("no/where"), join(root, "no/where"));
    assert.equal(await files.resolve("a.txt/x"), join(root, "a.txt/x"));
    assert.equal(await files.resolve("."), root);
  },
  "does not read when the signal is aborted": async (files) => {
    const reason = new Error("stop");
    await assert.rejects(files.readText("a.txt", { signal: AbortSignal.abort(reason) }), reason);
  },
};

for (const [name, test] of Object.entries(CONTRACT)) {
  Deno.test(`memoryFiles ${name}`, () => test(memoryFiles(CONTENT), "/project"));
  Deno.test(`hostFiles ${name}`, () =>
    withFolder(async (root) => {
      fill(root, CONTENT);
      await test(hostFiles({ root }), root);
    }));
  Deno.test(`exactFiles ${name}`, () =>
    withFolder(async (root) => {
      fill(root, CONTENT);
      await test(exactFiles({ root }), root);
    }));
}

posixTest("hostFiles keeps the mode of a file, and its link", () =>
  withFolder(async (root) => {
    fill(root, { "real/run.sh": "old" });
    await Deno.chmod(join(root, "real/run.sh"), 0o750);
    await Deno.symlink("real/run.sh", join(root, "link"));
    const files = hostFiles({ root });
    await files.writeText("link", "new");
    assert.equal(Deno.readTextFileSync(join(root, "real/run.sh")), "new");
    assert.equal((await Deno.stat(join(root, "real/run.sh"))).mode ?? 0, 0o100750);
    assert.equal((await Deno.lstat(join(root, "link"))).isSymlink, true);
    assert.deepEqual(
      (await files.list("real")).map(({ name }) => name),
      ["run.sh"],
      "nothing is left behind",
    );
    assert.deepEqual((await files.list(".")).map(({ name, kind, link }) => [name, kind, link]), [
      ["link", "file", true],
      ["real", "folder", false],
    ]);
  }));

Deno.test("hostFiles follows a link to nothing when it resolves and writes", () =>
  withFolder(async (root) => {
    fill(root, { "in/a": "" });
    await Deno.symlink("../outside/new.txt", join(root, "in/link"));
    await Deno.symlink("loop", join(root, "loop"));
    const files = hostFiles({ root: join(root, "in") });
    assert.equal(await files.resolve("link"), join(root, "outside/new.txt"));
    await files.writeText("link", "there");
    assert.equal(Deno.readTextFileSync(join(root, "outside/new.txt")), "there");
    await fails(files.readText("../loop"), {
      code: "other",
      message: /Cannot read "..\/loop": Too many levels/,
    });
  }));

posixTest(
  "exactFiles holds its own folders, whatever else of this process is open in the same way",
  () =>
    withFolder(async (root) => {
      fill(root, { "others/a": "", "own/a": "mine" });
      const others = openSync(join(root, "others"), 0o10000000 | constants.O_DIRECTORY); // O_PATH: another worker
      try {
        assert.equal(await exactFiles({ root }).readText("own/a"), "mine");
      } finally {
        closeSync(others);
      }
    }),
);

posixTest("hostFiles gives every file the mode it was told", () =>
  withFolder(async (root) => {
    const files = hostFiles({ root, mode: 0o600 });
    await files.writeText("state/secret", "s");
    assert.equal((await Deno.stat(join(root, "state/secret"))).mode, 0o100600);
    assert.equal((await Deno.stat(join(root, "state"))).mode, 0o040700);
  }));

posixTest("hostFiles reads and overwrites regular files only", () =>
  withFolder(async (root) => {
    fill(root, { "fixed.txt": "x" });
    await Deno.chmod(join(root, "fixed.txt"), 0o444);
    const files = hostFiles({ root });
    const message = `Cannot write "fixed.txt": the file is marked read-only`;
    await fails(files.writeText("fixed.txt", "y"), { code: "denied", message });
    assert.equal(Deno.readTextFileSync(join(root, "fixed.txt")), "x");
    await fails(files.readText("/dev/zero"), {
      code: "other",
      message: `Cannot read "/dev/zero": it is not a regular file`,
    });
    await fails(files.writeText("/dev/null", ""), {
      code: "other",
      message: /"\/dev\/null": it is not a regular file/,
    });
    assert.equal((await files.stat("/dev/null")).kind, "other");
  }));

/** Tries every effect, and prints the outcomes. */
const PROBE = `
import { hostFiles } from ${JSON.stringify(import.meta.resolve("../lib/host/files/files.ts"))};
import { hostEnv } from ${JSON.stringify(import.meta.resolve("../lib/host/process.ts"))};
import { hostShell } from ${JSON.stringify(import.meta.resolve("../lib/host/commands/shell.ts"))};
import { hostHttp } from ${JSON.stringify(import.meta.resolve("../lib/host/http/http.ts"))};
import { realPath, stateFolder, workingFolder } from ${
  JSON.stringify(import.meta.resolve("../lib/host/paths.ts"))
};
const files = hostFiles({ root: workingFolder() });
const said = (work) => work.then((value) => "ok " + JSON.stringify(value), (error) => (error.code ?? error.name) + " " + error.message);
console.log(JSON.stringify({
  read: await said(files.readText("a.txt")),
  write: await said(files.writeText("out/b.txt", "b")),
  list: await said(files.list(".")),
  find: await said(files.resolve("a.txt")),
  real: realPath("a.txt"),
  env: String(hostEnv("HOME")) + " " + stateFolder(),
  run: await said(hostShell().run("true", {})),
  net: await said(hostHttp({ check() {} }).fetch("http://localhost:9/")),
}));
`;

async function probe(
  folder: string,
  options: { flags: readonly string[]; terminal?: boolean },
): Promise<string> {
  const script = join(folder, "probe.ts");
  Deno.writeTextFileSync(script, PROBE);
  const args = ["run", "--no-lock", "--no-check", ...options.flags, script];
  const command = options.terminal
    ? { program: "script", args: ["-qec", [Deno.execPath(), ...args].join(" "), "/dev/null"] }
    : { program: Deno.execPath(), args };
  const child = new Deno.Command(command.program, {
    args: command.args,
    cwd: folder,
    env: { NO_COLOR: "1" },
    signal: AbortSignal.timeout(30_000),
  });
  const { stdout, stderr } = await child.output();
  return new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
}

Deno.test("without Deno's own permissions every effect is a clear error", () =>
  withFolder(async (root) => {
    fill(root, { "a.txt": "a" });
    const said = JSON.parse(await probe(root, { flags: [] }));
    const file = join(root, "a.txt");
    assert.deepEqual(said, {
      read: `denied Cannot read "a.txt": Deno itself was started without --allow-read=${file}`,
      write: `denied Cannot write "out/b.txt": Deno itself was started without --allow-read=${
        join(root, "out/b.txt")
      }`,
      list: `denied Cannot list ".": Deno itself was started without --allow-read=${root}`,
      find: `denied Cannot find "a.txt": Deno itself was started without --allow-read=${file}`,
      real: file,
      env: "undefined undefined",
      run: `Error Cannot run "true": Deno itself was started without --allow-run=true`,
      net:
        `Error Cannot fetch "http://localhost:9/": Deno itself was started without --allow-net=localhost:9`,
    });
  }));

Deno.test("with some of Deno's own permissions the others are clear errors", () =>
  withFolder(async (root) => {
    fill(root, { "a.txt": "a" });
    const flags = [`--allow-read=${root}`, "--allow-run=true", "--allow-env=HOME", "--allow-net=localhost:9"];
    const said = JSON.parse(await probe(root, { flags }));
    assert.equal(said.read, `ok "a"`);
    assert.equal(
      said.write,
      `denied Cannot write "out/b.txt": Deno itself was started without --allow-write=${join(root, "out")}`,
    );
    assert.equal(
      said.run,
      `ok {"exitCode":0,"stdout":"","stderr":"","truncated":false,"dropped":0,"stopped":false}`,
    );
    assert.match(said.env, /^\/\S* \/\S*\/\.local\/state\/orrery$/);
    assert.match(said.net, /nothing answers at localhost:9 \(connection refused\)/);
  }));

posixTest("no effect lets Deno ask on the terminal", () =>
  withFolder(async (root) => {
    fill(root, { "a.txt": "a" });
    const script = await new Deno.Command("script", { args: ["--version"], stderr: "null" }).output()
      .catch(() => undefined);
    if (!new TextDecoder().decode(script?.stdout).includes("util-linux")) {
      return console.log("not run here: there is no script of util-linux, which makes a terminal");
    }
    const output = await probe(root, { flags: [], terminal: true });
    assert.doesNotMatch(output, /Deno requests|Allow\?/);
    assert.match(output, /Deno itself was started without --allow-run=true/);
  }));
