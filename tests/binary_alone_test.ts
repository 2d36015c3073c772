// The compiled binary alone: every example of README.md that `deno run` runs, side by side with it, and those of `orrery help`, on a
// machine that has neither Deno nor Node, with an empty home. `deno task compile`, then `deno task test:binary`.

import assert from "node:assert/strict";
import { join } from "node:path";
import { makeBarePlace } from "./documentation/bare_place.ts";
import { type ReadmeBlock, readmeBlocks, tryScript, writeBlock } from "./documentation/readme_blocks.ts";
import { makeWorkplace } from "./documentation/workplace.ts";
import { compiledBinary, denoCommand, PROJECT_ROOT, runProgram } from "./_run.ts";

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
    const left: string[] = [];
    let ran = 0;
    for (const block of await readmeBlocks()) {
      if (block.kind === "file") {
        await writeBlock(alone, block);
        await writeBlock(elsewhere, block);
      }
      const why = leftOut(block);
      if (why !== undefined) {
        console.log(`not run here: ${block.name}; ${why}`);
        left.push(block.text.split("\n", 1)[0] ?? "");
      } else if (block.kind === "script") {
        ran++;
        await t.step(block.name, async () => {
          const [mine, other] = [await tryScript(alone, block), await tryScript(elsewhere, block)];
          assert.equal(steady(mine.stdout), steady(other.stdout));
        });
      }
    }
    await t.step("what is left out is known, and it is not much", () => {
      assert.deepEqual(left.filter((line) => !line.startsWith("import ")), LEFT_OUT);
      assert.ok(ran >= 6, `${ran} scripts of README.md were run`);
    });
    await t.step("what it keeps is kept where it belongs", async () => {
      const strange = (await alone.left()).filter((path) =>
        !/^(orrery$|\.local\/state\/orrery\/|\.cache\/orrery\/)/.test(path)
      );
      assert.deepEqual(strange, []);
    });
  },
});

Deno.test({
  name: "binary alone: the pages of orrery help do what they say",
  ignore: reason !== undefined,
  async fn(t) {
    let ran = 0;
    for await (const { name } of Deno.readDir(join(PROJECT_ROOT, "lib/help"))) {
      if (!name.endsWith(".md")) continue;
      await using alone = await makeBarePlace(binary ?? "", { isEmpty: true });
      for (const block of await readmeBlocks(`lib/help/${name}`)) {
        if (block.kind === "file") await writeBlock(alone, block);
        if (block.kind !== "script" || leftOut(block) !== undefined) continue;
        ran++;
        await t.step(block.name, async () => void await tryScript(alone, block));
      }
    }
    assert.ok(ran >= 25, `${ran} scripts of orrery help were run`);
  },
});

/** As the container of .docker/Dockerfile: nothing can be written but the project and /tmp, which is the home, too. */
const READ_ONLY = `mount --make-rprivate / && mount --bind "$0" /mnt && mount -t tmpfs tmpfs /tmp
mount -o remount,bind,ro / && cd /mnt/project || exit 99
touch /root/x 2>/dev/null && exit 98
exec env -i PATH=/usr/bin:/bin HOME=/tmp "/mnt/orrery" run report.calls --trust Report`;

const REPORT = `export default {
  name: "Report",
  description: "Test.",
  permissions: { write: ["out"] },
  run(): string {
    Deno.mkdirSync("out");
    Deno.writeTextFileSync("out/report.txt", "written");
    return "done";
  },
};
`;

Deno.test({
  name: "binary alone: a read-only system with a project and /tmp is enough",
  ignore: reason !== undefined || Deno.build.os !== "linux",
  async fn() {
    const folder = await Deno.makeTempDir({ prefix: "orrery-read-only-", dir: "/var/tmp" });
    try {
      await Deno.copyFile(binary ?? "", join(folder, "orrery"));
      await Deno.mkdir(join(folder, "project/gadgets"), { recursive: true });
      await Deno.writeTextFile(join(folder, "project/gadgets/report.ts"), REPORT);
      await Deno.writeTextFile(
        join(folder, "project/report.calls"),
        "!!!GADGET_START:Report\n!!!GADGET_END\n",
      );
      const namespace = ["unshare", "--map-root-user", "--mount"];
      const can = await runProgram([...namespace, "sh", "-c", "mount --make-rprivate /"]).catch(() => ({
        code: 1,
      }));
      if (can.code !== 0) {
        return console.log("not run here: a read-only system, since nothing can be mounted");
      }
      const { code, stdout, stderr } = await runProgram([...namespace, "sh", "-c", READ_ONLY, folder]);
      assert.deepEqual([code, stdout.trim()], [0, "done"], stderr);
      assert.equal(await Deno.readTextFile(join(folder, "project/out/report.txt")), "written");
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
});

/** The scripts that need Deno or Node, or the network, or have no end; the programs in TypeScript are left out besides. */
const LEFT_OUT: readonly string[] = [
  "npx -y deno@2.9.6 run -A --quiet main.ts run examples/report/report.calls --allow-write=examples/report/out",
  "npm install --global deno@2.9.6                                    # not needed where there is a Deno",
  "orrery serve                    # http://127.0.0.1:7337, with a token; the page, /v1, and /v1/chat/completions as OpenAI has it",
  "deno task ok      # the gate of a change; deno task bench: figures; deno task soak: kills, load, all of the long tests",
];

/** Why a block cannot be run here; undefined for one that can be, and for what is no program. */
function leftOut({ kind, language, info, text }: ReadmeBlock): string | undefined {
  if (kind === "module") return "a program for Deno: the binary is no library";
  if (kind === "shown") {
    return language === "sh" ? `README.md says: ${/no-run: *(.*)$/.exec(info)?.[1]}` : undefined;
  }
  return kind === "script" && /\b(deno|npx|node)\b/.test(text)
    ? "it is about Deno, which is not there"
    : undefined;
}

/** A text without what is another in each run: times, and the ids of runs. Calls side by side end in any order. */
function steady(text: string): string {
  const lines = text.replaceAll(/\d+(\.\d+)? (ms|s)\b|(?<="at":)[\d.]+|\b\d{4}-\d\d-\d\d \d\d:\d\d\b/g, "…")
    .replaceAll(/\b(?=[a-z]*\d)[0-9a-z]{12}\b/g, "…").replaceAll(
      /(?<=chatcmpl-)[0-9a-f]+|(?<="created":)\d+/g,
      "…",
    ).replaceAll(/ +/g, " ").split("\n");
  return lines.sort().join("\n");
}
