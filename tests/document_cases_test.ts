// Every case of tests/spec/documents through the command line: output byte for byte, messages sent, exit codes, files.

import assert from "node:assert/strict";
import { join } from "node:path";
import {
  caseNames,
  expectedFiles,
  filesBelow,
  prepareCase,
  readCase,
  recordedMessages,
} from "./_document_cases.ts";
import { orrery } from "./_run.ts";

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

for (const name of caseNames()) {
  const one = readCase(name);
  Deno.test(`document case ${name}: ${one.note}`, async () => {
    const folder = prepareCase(name, one);
    const place = Deno.makeTempDirSync({ prefix: "orrery-record-" });
    const record = join(place, "run.jsonl");
    const before = filesBelow(folder);
    const trusted = Object.keys(one.tools ?? {}).flatMap((tool) => ["--trust", tool]);
    try {
      const result = await orrery(
        ["run", "main.md", "--ephemeral", "--record", record, ...trusted, ...one.args],
        { cwd: folder, ...(one.env === undefined ? {} : { env: one.env }) },
      );
      assert.equal(result.stdout, one.stdout, result.stderr);
      assert.ok(
        holds(result.stderr, one.error ?? ""),
        `expected in stderr: ${one.error}\nfound: ${result.stderr}`,
      );
      assert.equal(result.code, one.exitCode, result.stderr);
      const text = await Deno.readTextFile(record).catch(() => "");
      assert.deepEqual(recordedMessages(text), one.messages);
      assertFiles(name, { one, before, folder });
    } finally {
      Deno.removeSync(folder, { recursive: true });
      Deno.removeSync(place, { recursive: true });
    }
  });
}

/** A sequence of lines, each of which may be a part of one. */
function holds(text: string, wanted: string): boolean {
  return text.includes(wanted);
}

function assertFiles(
  name: string,
  { one, before, folder }: {
    readonly one: ReturnType<typeof readCase>;
    readonly before: ReadonlyMap<string, Uint8Array>;
    readonly folder: string;
  },
): void {
  const after = filesBelow(folder);
  const changed = new Map<string, string>();
  for (const [path, bytes] of after) {
    const was = before.get(path);
    if (was === undefined || decoder.decode(was) !== decoder.decode(bytes)) {
      changed.set(path, decoder.decode(bytes));
    }
  }
  const expected = expectedFiles(name, one);
  assert.deepEqual(
    [...changed.keys()].sort(),
    [...expected.keys()].sort(),
    "the files that a run makes or changes",
  );
  for (const [path, text] of expected) assert.equal(changed.get(path), text, path);
  for (const path of before.keys()) assert.ok(after.has(path), `${path} is gone`);
}
