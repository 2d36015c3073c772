// What is large in the modules of a program is taken out of them, compressed, and what they export stays the same.

import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { join, sep } from "node:path";
import { pathToFileURL } from "node:url";
import fc from "fast-check";
import { packFolder } from "../.ci/pack_folder.ts";
import { packModule } from "../.ci/pack_module.ts";
import { packWasm } from "../.ci/pack_wasm.ts";
import { testProject } from "./_project.ts";

/** A module of WebAssembly with nothing in it that does anything. */
function largeWasm(): Uint8Array {
  const custom = new Uint8Array(100_000).map((_, at) => at);
  const length = custom.length + 3;
  const size = [(length & 0x7f) | 0x80, ((length >> 7) & 0x7f) | 0x80, length >> 14];
  return Uint8Array.from([0, 97, 115, 109, 1, 0, 0, 0, 0, ...size, 2, 97, 98, ...custom]);
}

/** What a careless replacement or a careless encoding changes. */
const ODD = "ü \u2028 $& ` \ud83d\ude80";

const withWasm = (base64: string) =>
  `import{Buffer as x}from"node:buffer";var a=x.from("${base64}","base64"),b="AGFzbQEAAAA=";export{a as bytes,b as small};`;

Deno.test("pack: large WebAssembly is taken out of a module, and nothing else", () => {
  const wasm = largeWasm();
  const packed = packWasm(withWasm(Buffer.from(wasm).toString("base64")), "./assets/m.js");
  assert.deepEqual([...packed.wasm], [["./assets/m.js.0.wasm.br", Buffer.from(wasm)]]);
  assert.ok(packed.text.length < 1000, `${packed.text.length}`);
  assert.match(packed.text, /b="AGFzbQEAAAA="/);
  const small = withWasm("AGFzbQEAAAA=");
  assert.deepEqual(packWasm(small, "./m"), { text: small, wasm: new Map() });
});

Deno.test("pack: a folder's modules are what they were when they are imported", async () => {
  await using project = await testProject({
    "neighbour.js": "let count=0;const next=()=>++count;export{next as a};",
    "wasm.js": withWasm(Buffer.from(largeWasm()).toString("base64")),
    "large.js": [
      'import{a as next}from"./neighbour.js";import"node:url";import{sep}from"node:path";',
      `${" ".repeat(1_000_000)}const text=${JSON.stringify(ODD)};const f=async()=>[next(),sep,this];`,
      "let at=await Promise.resolve(import.meta.url);export{f,at as where,text as default};",
    ].join("\n"),
  });
  const url = (name: string) => pathToFileURL(join(project.folder, name)).href;
  const load = async (query: string) => {
    const { f, where, default: text } = await import(url("large.js") + query);
    return {
      values: [text, ...await f()],
      isHere: where.startsWith(url("large.js")),
      ...await import(url("wasm.js") + query),
    };
  };
  const before = await load("");
  await packFolder(project.folder, "assets");
  assert.deepEqual(before.values, [ODD, 1, sep, undefined]);
  assert.deepEqual(await load("?packed"), { ...before, values: before.values.with(1, 2) }); // of the same neighbour
  assert.ok((await project.read("large.js")).length < 1000);
  assert.ok((await project.read("wasm.js")).length < 1000);
});

Deno.test("pack: a module of another form is refused, with what was found", async () => {
  const refused = [
    'import*as a from"./b.js";export{a};',
    'import a from"./b.js";export{a};',
    'import a from"./b.json"with{type:"json"};export{a};',
    'export*from"./b.js";',
    'export{a}from"./b.js";',
    "export const a=1;",
    "export default 1;",
    "const a=1;export{a};const b=2;",
    'const a=()=>import("./b.js");export{a};',
  ];
  for (const text of refused) {
    await assert.rejects(
      packModule(text, "./m.br"),
      /^Error: found ".+", expected imports and one export by names$/,
      text,
    );
  }
});

Deno.test("pack: a bundle that is not as it was is told", async () => {
  await using project = await testProject({ "main.js": "export{};" });
  await assert.rejects(
    packFolder(project.folder, "assets"),
    /found no large WebAssembly, expected that of amaro$/,
  );
  await project.write("wasm.js", withWasm(Buffer.from(largeWasm()).toString("base64")));
  await assert.rejects(
    packFolder(project.folder, "assets"),
    /found no module of 100000 characters, expected/,
  );
});

Deno.test("pack: whatever text a module has, it exports the same", async () => {
  await fc.assert(fc.asyncProperty(fc.string({ unit: "grapheme", maxLength: 40 }), async (text) => {
    const { body } = await packModule(`var a=${JSON.stringify(text)};export{a as b};`, "./m.br");
    const { default: evaluate } = await import(
      `data:text/javascript,export default ${encodeURIComponent(body)}`
    );
    assert.deepEqual(await evaluate({ meta: import.meta, modules: [] }), { b: text });
  }));
});
