// What a user decided for good: the form of the lists, and the hashes that are in them on users' disks.

import assert from "node:assert/strict";
import fc from "fast-check";
import { SourceError } from "../mod.ts";
import { parseStateList, type StateListForm, stateListText } from "../lib/core/state_list.ts";
import { serverHash, toolHashes } from "../lib/mcp/server_words.ts";
import { hashOwnWord } from "../lib/policy/accepted.ts";
import { anyText } from "./_any_text.ts";

const FORM: StateListForm<string> = {
  key: "words",
  of: "known words",
  each: "word",
  needs: "text",
  entry: (value) => typeof value === "string" ? value : undefined,
};

Deno.test("state list: what is written is read again", () => {
  fc.assert(fc.property(fc.array(anyText()), (words) => {
    assert.deepEqual(parseStateList(stateListText(words, FORM), { file: "f", form: FORM }), words);
  }));
  assert.equal(stateListText(["a"], FORM), '{\n  "version": 1,\n  "words": [\n    "a"\n  ]\n}\n');
});

Deno.test("state list: what is no list is an error that names the file, whatever it is", () => {
  const reasonOf = (text: string): string => {
    try {
      parseStateList(text, { file: '/a "b"', form: FORM });
      return "";
    } catch (error) {
      assert.ok(error instanceof SourceError);
      assert.equal(error.code, "E-accepted");
      assert.equal(error.hint, "Mend the file, or delete it: you are then asked about each word again.");
      const start = 'Cannot read the list of known words "/a \\"b\\"": ';
      assert.ok(error.message.startsWith(start), error.message);
      return error.message.slice(start.length);
    }
  };
  assert.match(reasonOf("{"), /^it is not JSON: /);
  const forms = ["[]", "null", '{"words":[]}', '{"version":2,"words":[]}', '{"version":1,"words":{"0":"a"}}'];
  for (const text of forms) assert.equal(reasonOf(text), 'expected {"version": 1, "words": [...]}');
  assert.equal(reasonOf('{"version":1,"words":["a",1]}'), 'entry 2 of "words" must have text');
  fc.assert(fc.property(fc.oneof(fc.string(), fc.json()), (text) => void reasonOf(text)));
});

Deno.test("hashes of what was accepted stay as they are: who accepted it is not asked again", () => {
  const mcpJson = { "10": { command: "é" }, "9": {}, "-a": { "\u{1F600}": 1 } };
  assert.equal(
    hashOwnWord({ grants: { B: { net: ["x"] }, A: "trusted" }, mcpJson, lock: "\ud800" }),
    "a85e88ac5ed954df7ceda73ce7cd4be9118ceab3ced40fd906e80e177539489d",
  );
  const http = { kind: "http", url: "${BASE}/mcp", headers: { "10": "x", "9": "y", "-a": "z" } } as const;
  const reached = { ...http, url: "https://example.com/mcp" };
  assert.equal(
    serverHash({ name: "n", part: "n", file: "f", written: http, endpoint: reached, variables: ["BASE"] }),
    "323624e2f70bed37d7d956db9edebe056d1f210bab306f77e5ca17fcd32a5cb8",
  );
  const stdio = { kind: "stdio", command: "npx", args: ["-y", "server"], env: { B: "1", A: "2" } } as const;
  assert.equal(
    serverHash({ name: "n", part: "n", file: "f", written: stdio, endpoint: stdio, variables: [] }),
    "93bc2bcc55171c13f29309a856fa8ee799d5a5f4f4634c063940faed5c9eaee9",
  );
  const inputSchema = { type: "object" as const, properties: { b: {}, a: {} } };
  assert.deepEqual(toolHashes([{ name: "echo", description: "Says it again", inputSchema }]), {
    echo: "c73cfed43d7c3de9059ae52269082a0e22e41d48b62ed2c2eee9274642e71862",
  });
});
