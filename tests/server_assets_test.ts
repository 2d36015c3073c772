// What pages load: modules as a browser reads them, style sheets, pictures; and nothing else.

import assert from "node:assert/strict";
import { openAssets } from "../lib/server/pages/assets.ts";

Deno.test("assets: each module with all that it imports, as JavaScript under its own name", async () => {
  const assets = await openAssets();
  assert.match(assets.base, /^\/assets\/[0-9a-f]{16}$/);
  const seen = new Set<string>();
  const waiting = ["theme", "keys", "form", "search", "times"].map((name) => `lib/browser/${name}.ts`);
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (seen.has(path)) continue;
    seen.add(path);
    const asset = assets.find(path);
    assert.ok(asset, path);
    assert.equal(asset.type, "text/javascript; charset=utf-8");
    assert.doesNotMatch(asset.text, /^import type |: readonly |interface \w+ \{/m, path);
    for (const [, specifier = ""] of asset.text.matchAll(/\bfrom "([^"]+)"/g)) {
      waiting.push(new URL(specifier, `http://x/${path}`).pathname.slice(1));
    }
  }
  assert.ok(seen.has("lib/browser/dom.ts"));
});

Deno.test("assets: styles and pictures have their types, other files are not there", async () => {
  const assets = await openAssets();
  assert.equal(assets.find("lib/browser/page.css")?.type, "text/css; charset=utf-8");
  assert.equal(assets.find("lib/browser/icon.svg")?.type, "image/svg+xml");
  for (
    const path of [
      "lib/core/secrets.ts",
      "deno.json",
      "lib/browser/../../deno.json",
      "__proto__",
      "constructor",
    ]
  ) {
    assert.equal(assets.find(path), undefined, path);
  }
});

Deno.test("assets: pages name no color, style or script outside of them", async () => {
  const assets = await openAssets();
  assert.doesNotMatch(assets.find("lib/browser/page.css")?.text ?? "", /url\(|@import|https?:/);
});
