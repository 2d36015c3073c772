// What goes wrong first for whoever tries Orrery: each has an error that says what was found, where, and what to do, and
// what could be done all the same is done.

import assert from "node:assert/strict";
import { join } from "node:path";
import { orrery, orreryCommand, testEnvironment } from "./_run.ts";

const BLOCK = "!!!GADGET_START:Calculate:one\n!!!ARG:expression\n1+1\n!!!GADGET_END\n";

async function inFolder(test: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "orrery bad " }));
  try {
    await Deno.mkdir(join(folder, ".git"));
    await test(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

const bytes = (text: string) => new TextEncoder().encode(text);

interface BadFile {
  readonly name: string;
  readonly content?: string | Uint8Array;
  readonly code: number;
  readonly stdout?: string;
  readonly says: RegExp;
}

const FILES: readonly BadFile[] = [
  {
    name: "relase.calls",
    code: 2,
    says: /^error: Cannot read "relase\.calls": no such file\. Did you mean "release\.calls"\?\n$/,
  },
  { name: "release", code: 2, says: /no file and no prompt "release"\. Did you mean "release\.calls"\?/ },
  {
    name: "nowhere/a.calls",
    code: 2,
    says: /Cannot read "nowhere\/a\.calls": no such file: its folder "nowhere" is not there/,
  },
  { name: "folder.calls", code: 2, says: /Cannot read "folder\.calls": it is a folder, not a file/ },
  {
    name: "notes.txt",
    content: BLOCK,
    code: 2,
    says: /Cannot run "notes\.txt": expected a call file.*"\.calls".*orrery run - < notes\.txt/,
  },
  {
    name: "picture.calls",
    content: bytes(`${BLOCK}\0\x01`),
    code: 2,
    says: /"picture\.calls": it is not text but binary data: found a NUL byte at offset 66/,
  },
  { name: "utf16.calls", content: new Uint8Array([0xff, 0xfe, 0x21, 0x00]), code: 2, says: /binary data/ },
  {
    name: "empty.calls",
    content: "",
    code: 0,
    says: /^notice: nothing ran: no line of "empty\.calls" begins with !!!GADGET_START:\n$/,
  },
  {
    name: "prose.calls",
    content: " !!!GADGET_START:X\njust text",
    code: 0,
    says: /just text\nnotice: nothing ran/,
  },
  {
    name: "latin1.calls",
    content: new Uint8Array([
      ...bytes(BLOCK),
      ...bytes("caf"),
      0xe9,
      ...bytes(`\n${BLOCK.replace("one", "two")}`),
    ]),
    code: 1,
    stdout: "2\n",
    says:
      /ok +one[^]*Cannot read "latin1\.calls" any further: it is not UTF-8 text: the first wrong byte is 0xE9 at offset 69/,
  },
  {
    name: "cut.calls",
    content: new Uint8Array([...bytes(BLOCK), 0xe6, 0xbc]),
    code: 1,
    stdout: "2\n",
    says: /the first wrong byte is 0xE6 at offset 66/,
  },
];

Deno.test("files that are none, or not calls", async (t) => {
  await inFolder(async (folder) => {
    await Deno.mkdir(join(folder, "folder.calls"));
    await Deno.writeTextFile(join(folder, "release.calls"), BLOCK);
    for (const { name, content } of FILES) {
      if (content !== undefined) {
        await Deno.writeFile(join(folder, name), typeof content === "string" ? bytes(content) : content);
      }
    }
    const results = await Promise.all(FILES.map(({ name }) => orrery(["run", name], { cwd: folder })));
    for (const [index, { name, code, says, stdout = "" }] of FILES.entries()) {
      await t.step(name, () => {
        assert.match(results[index]?.stderr ?? "", says);
        assert.deepEqual([results[index]?.code, results[index]?.stdout], [code, stdout]);
      });
    }
  });
});

Deno.test("calls that cannot run, each with its own error, beside one that can", async () => {
  await inFolder(async (folder) => {
    const head = (header: string, body = "!!!ARG:expression\n1\n") =>
      `!!!GADGET_START:${header}\n${body}!!!GADGET_END\n`;
    await Deno.mkdir(join(folder, "gadgets"));
    await Deno.writeTextFile(join(folder, "gadgets/throws.ts"), "// a comment\nthrow new Error('no key');\n");
    await Deno.writeTextFile(
      join(folder, "gadgets/odd.ts"),
      "export default { name: 'Odd', description: 'x', run: () => ({ when: new Date(NaN), f() {} }) };\n",
    );
    const calls = [
      head("Calculat:unknown"),
      head("Calculate:wrong", "!!!ARG:expresion\n1\n"),
      head("Calculate:a:b") + head("Calculate:b:a"),
      head("Calculate:waits:never"),
      head("throws:broken", ""),
      head("Odd:odd", ""),
      head("Calculate:good"),
    ];
    await Deno.writeTextFile(join(folder, "all.calls"), calls.join(""));
    const { code, stdout, stderr } = await orrery([
      "run",
      "all.calls",
      "--trust",
      "gadgets/throws.ts,gadgets/odd.ts",
    ], {
      cwd: folder,
    });
    assert.deepEqual([code, stdout], [1, "1\n"]);
    for (
      const says of [
        /error unknown[^]*all\.calls:1: Unknown gadget "Calculat"\. Did you mean "Calculate"\?/,
        /error wrong[^]*all\.calls:5: expresion: unknown.*expression/,
        /skip {2}a [^]*all\.calls:9: .*a -> b -> a/,
        /skip {2}waits[^]*all\.calls:17: Skipped: depends on "never", which was never called/,
        /error broken[^]*gadgets\/throws\.ts:2:7: no key/,
        /error odd[^]*The result of Odd is not JSON: found .* at (when|f)/,
        /ok {4}good/,
      ]
    ) assert.match(stderr, says);
  });
});

Deno.test("two gadgets of one name: both files are named, and nothing runs", async () => {
  await inFolder(async (folder) => {
    const gadget = `export default { name: "Twin", description: "x", run: () => 1 };\n`;
    await Deno.mkdir(join(folder, "gadgets"));
    await Deno.writeTextFile(join(folder, "gadgets/left.ts"), gadget);
    await Deno.writeTextFile(join(folder, "right.ts"), gadget);
    await Deno.writeTextFile(join(folder, "a.calls"), BLOCK);
    const { code, stdout, stderr } = await orrery(
      ["run", "a.calls", "--gadget", "right.ts", "--trust", "gadgets/left.ts", "--trust", "right.ts"],
      { cwd: folder },
    );
    assert.deepEqual([code, stdout], [2, ""]);
    assert.match(stderr, /"Twin"[^]*gadgets\/left\.ts[^]*right\.ts/);
  });
});

Deno.test("settings that are wrong: the place, the line and the caret", async () => {
  await inFolder(async (folder) => {
    await Deno.writeTextFile(join(folder, "orrery.yaml"), "limits:\n  concurency: 3\n");
    await Deno.writeTextFile(join(folder, "a.calls"), BLOCK);
    const { code, stderr } = await orrery(["run", "a.calls"], { cwd: folder });
    assert.equal(code, 2);
    assert.match(
      stderr,
      /^orrery\.yaml:2:3: error: .*concurency.*\n {2}\|\n2 \| {3}concurency: 3\n {2}\| {3}\^+\n/,
    );
    assert.match(stderr, /Did you mean "concurrency"\?/);
  });
});

Deno.test("10 MB of text without a line end before a call", async () => {
  const text = "x".repeat(10_000_000);
  const { code, stdout, stderr } = await orrery(["run", "-"], { stdin: `${text}\n${BLOCK}` });
  assert.deepEqual([code, stdout], [0, "2\n"]);
  assert(stderr.startsWith(`${text}\n  ok    one`), stderr.slice(10_000_000));
});

Deno.test("stdin closed early, in a block: what is there runs; an empty stdin is no error", async () => {
  const [open, header, nothing] = await Promise.all([
    orrery(["run", "-", "-q"], { stdin: BLOCK.replace("!!!GADGET_END\n", "") }),
    orrery(["run", "-", "-q"], { stdin: "!!!GADGET_START:Now" }),
    orrery(["run", "-"], { stdin: "" }),
  ]);
  assert.deepEqual(open, { code: 0, stdout: "2\n", stderr: "" });
  assert.equal(header.code, 0);
  assert.deepEqual([nothing.code, nothing.stdout], [0, ""]);
  assert.match(nothing.stderr, /nothing ran: no line of stdin/);
});

Deno.test("stdout closed early is no error, and the effects of the run are still done", async () => {
  await inFolder(async (folder) => {
    const write =
      "!!!GADGET_START:WriteFile:two:one\n!!!ARG:path\n.orrery/done.txt\n!!!ARG:content\nyes\n!!!GADGET_END\n";
    await Deno.writeTextFile(
      join(folder, "a.calls"),
      "!!!GADGET_START:Wait:one\n!!!ARG:seconds\n0.3\n!!!GADGET_END\n" + write,
    );
    const [program = "", ...args] = [...orreryCommand(), "run", "a.calls", "--jsonl", "-q"];
    const child = new Deno.Command(program, {
      args,
      cwd: folder,
      clearEnv: true,
      env: testEnvironment(),
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
    })
      .spawn();
    const reader = child.stdout.getReader();
    await reader.read();
    await reader.cancel();
    const [stderr, status] = await Promise.all([new Response(child.stderr).text(), child.status]);
    assert.deepEqual([status.code, stderr], [0, ""]);
    assert.equal(await Deno.readTextFile(join(folder, ".orrery/done.txt")), "yes");
  });
});

Deno.test("a result that cannot be written is told: a full disk, a folder in its place", async () => {
  await inFolder(async (folder) => {
    await Deno.writeTextFile(join(folder, "a.calls"), BLOCK);
    const place = await orrery(["run", "a.calls", "-o", "."], { cwd: folder });
    assert.deepEqual([place.code, place.stderr], [
      2,
      'error: Cannot write the result to ".": it is a folder; name a file\n',
    ]);
    const full = await Deno.open("/dev/full", { write: true }).catch(() => undefined);
    if (full === undefined) return console.log("not run here: there is no /dev/full");
    full.close();
    const shell = `${orreryCommand().map((word) => `'${word}'`).join(" ")} run a.calls -q > /dev/full`;
    const { code, stderr } = await new Deno.Command("sh", {
      args: ["-c", shell],
      cwd: folder,
      clearEnv: true,
      env: testEnvironment(),
    }).output();
    assert.deepEqual([code, new TextDecoder().decode(stderr)], [
      1,
      "error: Cannot write to stdout: No space left on device\n",
    ]);
  });
});
