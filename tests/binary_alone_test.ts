// The compiled binary alone: every example of README.md that `deno run` runs, side by side with it, on a machine that has neither
// Deno nor Node, with an empty home. `deno task compile`, then `deno task test:binary`.

import assert from "node:assert/strict";
import { makeBarePlace } from "./documentation/bare_place.ts";
import { readmeBlocks, tryScript, writeBlock } from "./documentation/readme_blocks.ts";
import { makeWorkplace } from "./documentation/workplace.ts";
import { compiledBinary, denoCommand } from "./_run.ts";

const binary = compiledBinary();
const reason = binary === undefined
  ? "deno task compile makes the binary, then deno task test:binary"
  : Deno.build.os === "windows"
  ? "README.md is for sh"
  : undefined;
if (reason !== undefined) console.log(`not run here: the binary alone; ${reason}`);

Deno.test({
  name: "binary alone: README.md does what it says",
  ignore: reason !== undefined,
  async fn(t) {
    await using alone = await makeBarePlace(binary ?? "");
    await using elsewhere = await makeWorkplace(denoCommand());
    await t.step("there is nothing that runs JavaScript", async () => {
      const { stdout } = await alone.shell(
        "for name in deno node npx npm bun; do command -v $name || echo no $name; done",
      );
      assert.equal(stdout, "no deno\nno node\nno npx\nno npm\nno bun\n");
      const names = (await alone.shell("env | cut -d= -f1")).stdout;
      assert.doesNotMatch(names, /deno|node|xdg|orrery/i);
    });
    for (const block of await readmeBlocks()) {
      if (block.kind === "file") {
        await writeBlock(alone, block);
        await writeBlock(elsewhere, block);
      }
      if (block.kind === "script") {
        await t.step(block.name, async () => {
          if (/\bdeno\b/.test(block.text)) return console.log("not run here: it says deno");
          const [mine, other] = [await tryScript(alone, block), await tryScript(elsewhere, block)];
          assert.equal(steady(mine.stdout), steady(other.stdout));
        });
      }
      if (block.kind === "module") console.log(`not run here: ${block.where} is a program for Deno`);
    }
    await t.step("what it keeps is kept where it belongs", async () => {
      const strange = (await alone.left()).filter((path) =>
        !/^(orrery$|\.local\/state\/orrery\/|\.cache\/orrery\/)/.test(path)
      );
      assert.deepEqual(strange, []);
    });
  },
});

/** A text without what is another in each run: times, and the ids of runs. Calls side by side end in any order. */
function steady(text: string): string {
  const lines = text.replaceAll(/\d+(\.\d+)? (ms|s)\b|(?<="at":)[\d.]+|\b\d{4}-\d\d-\d\d \d\d:\d\d\b/g, "…")
    .replaceAll(/\b(?=[a-z]*\d)[0-9a-z]{12}\b/g, "…").replaceAll(/ +/g, " ").split("\n");
  return lines.sort().join("\n");
}
