// The pictures of README.md: that they are there, move as they should and need nothing else. `deno task pictures` draws them.

import assert from "node:assert/strict";
import { join } from "node:path";
import { PROJECT_ROOT } from "./_run.ts";

const FOLDER = join(PROJECT_ROOT, "lib/help");

Deno.test("pictures: those of README.md are there, small, and need nothing from elsewhere", async () => {
  for (const theme of ["light", "dark"]) {
    const svg = await Deno.readTextFile(join(FOLDER, `run_${theme}.svg`));
    assert.ok(svg.length <= 60_000, `run_${theme}.svg has ${svg.length} bytes`);
    for (const words of ["$", "orrery ask", "lab/large", "RunCommand", "← build, tests", "6 calls: 6 ok"]) {
      assert.ok(svg.includes(words), `run_${theme}.svg does not say ${words}`);
    }
    assertAlone(svg);
    const { size } = await Deno.stat(join(FOLDER, `trace_${theme}.png`));
    assert.ok(size < 150_000, `trace_${theme}.png has ${size} bytes`);
  }
});

Deno.test("pictures: each screen of the strip for its time, the last one where nothing moves; light and dark differ in their colours alone", async () => {
  const [light = "", dark = ""] = await Promise.all(
    ["light", "dark"].map((theme) => Deno.readTextFile(join(FOLDER, `run_${theme}.svg`))),
  );
  const height = Number(/<svg x="\d+" y="\d+" width="\d+" height="(\d+)"/.exec(dark)?.[1]);
  const places = [...dark.matchAll(/([\d.]+)%\{transform:translateY\((-?\d+)px\)\}/g)];
  assert.ok(places.length > 20);
  assert.deepEqual(places.map(([, , y]) => Number(y)), places.map((_, nth) => 0 - nth * height));
  const shares = places.map(([, share]) => Number(share));
  assert.deepEqual(shares, shares.toSorted((a, b) => a - b));
  assert.ok(dark.includes(`#strip{transform:translateY(${-(places.length - 1) * height}px)`));
  assert.match(dark, /prefers-reduced-motion:reduce\)\{#strip\{animation:none\}\}/);
  const uses = [...dark.matchAll(/<use href="#(\w+)"/g)].map(([, id]) => id);
  assert.deepEqual(new Set(uses), new Set([...dark.matchAll(/<text id="(\w+)"/g)].map(([, id]) => id)));
  assert.match(dark, /<tspan x="9" class="g">●<\/tspan><tspan x="27">/);
  const withoutColors = (svg: string): string => svg.replaceAll(/#[0-9a-f]{6}\b/g, "#");
  assert.notEqual(light, dark);
  assert.equal(withoutColors(light), withoutColors(dark));
});

function assertAlone(svg: string): void {
  assert.doesNotMatch(svg, /<script|<foreignObject|\son\w+=|@import|url\(|\p{Cc}\[/iu);
  assert.deepEqual([...svg.matchAll(/\w+:\/\/[^"\s]*/g)].map(String), ["http://www.w3.org/2000/svg"]);
  assert.ok([...svg.matchAll(/href="([^"]*)"/g)].every(([, to]) => to?.startsWith("#")));
}
