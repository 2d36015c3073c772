// What gadgets really used, and `orrery trust --minimise`.
import assert from "node:assert/strict";
import { testProject } from "./_project.ts";

Deno.test("use: of variables and facts those that the gadget looked at, by whatever way", async () => {
  await using project = await testProject({
    "gadgets/look.ts": `import { hostname } from "node:os";
const top = Deno.env.get("TOP_WORD") ?? "";
export default {
  name: "Look", description: "Looks.", permissions: { env: ["TOP_WORD", "ONE", "TWO", "NODE_WORD", "UNREAD", "APP_*"], sys: true },
  run: () => [top, Deno.env.get("ONE"), Deno.env.has("TWO"), process.env.NODE_WORD, process.env.APP_X, Deno.env.get("OTHER"), hostname() !== ""],
};
`,
    "a.calls": "!!!GADGET_START:Look\n!!!GADGET_END\n",
  });
  assert.equal((await project.run(["trust", "allow", "Look"])).code, 0);
  const env = { TOP_WORD: "top", ONE: "1", NODE_WORD: "n", UNREAD: "u", APP_X: "x", APP_Y: "y", OTHER: "o" };
  const run = await project.run(["run", "a.calls"], { env });
  assert.deepEqual(
    [run.code, JSON.parse(run.stdout)],
    [0, ["top", "1", false, "n", "x", null, true]],
    run.stderr,
  );
  const { code, stderr } = await project.run(["trust", "--minimise", "--yes"]);
  assert.equal(code, 0, stderr);
  assert.deepEqual(JSON.parse(await project.read("orrery.lock")).gadgets[0].permissions, {
    env: ["APP_X", "NODE_WORD", "ONE", "TOP_WORD", "TWO"],
    sys: ["hostname"],
  });
  assert.equal((await project.run(["run", "a.calls"], { env })).code, 0);
});

Deno.test("orrery trust: allow and --minimise with gadgets that really ran", async () => {
  await using project = await testProject({
    "gadgets/look.ts": `import { far } from "./_far.ts";
const name = ["Lo", "ok"].join("");
export default {
  name, description: "Reads.", input: { type: "object", properties: { path: { type: "string" } } },
  permissions: { read: ["data", "more"], write: ["out"] },
  async run({ path }: { path: string }) { return far + await Deno.readTextFile(path); },
};
`,
    "gadgets/_far.ts": 'export const far: string = "far ";\n',
    "gadgets/broken.ts": "export default 1;\n",
    "data/a.txt": "a",
    "more/b.txt": "b",
    "outside.txt": "c",
    "a.calls": "!!!GADGET_START:Look\n!!!ARG:path\ndata/a.txt\n!!!GADGET_END\n",
    "b.calls": "!!!GADGET_START:Look\n!!!ARG:path\nmore/b.txt\n!!!GADGET_END\n",
    "c.calls": "!!!GADGET_START:Look\n!!!ARG:path\noutside.txt\n!!!GADGET_END\n",
  });
  const allowed = await project.run(["trust", "allow", "Look"]); // a name that only the module itself knows
  assert.equal(allowed.code, 0, allowed.stderr);
  assert.match(allowed.stdout, /^Look is allowed for good to\n {2}read data and everything in it\n/);
  assert.deepEqual(
    Object.keys(JSON.parse(await project.read("orrery.lock")).gadgets[0].modules),
    ["gadgets/_far.ts", "gadgets/look.ts"],
  );
  const unknown = await project.run(["trust", "allow", "Lok"]);
  assert.equal(unknown.code, 2);
  assert.match(
    unknown.stderr,
    /No gadget for Lok: the gadget files here are gadgets\/broken\.ts, gadgets\/look\.ts/,
  );
  const broken = await project.run(["trust", "allow", "gadgets/broken.ts"]);
  assert.equal(broken.code, 2, broken.stderr);
  assert.match(broken.stderr, /Cannot load gadgets\/broken\.ts: /);

  assert.match((await project.run(["trust", "--minimise"])).stdout, /no run that is kept called it/);
  assert.equal((await project.run(["run", "b.calls", "--ephemeral"])).code, 0);
  assert.match((await project.run(["trust", "--minimise"])).stdout, /no run that is kept called it/);
  for (let run = 0; run < 2; run++) {
    const { code, stderr } = await project.run(["run", "a.calls"]);
    assert.equal(code, 0, stderr);
  }
  assert.equal((await project.run(["run", "c.calls"])).code, 5); // refused: not used
  const { code, stdout } = await project.run(["trust", "--minimise", "--yes"]);
  assert.equal(code, 0);
  assert.match(
    stdout,
    /^Look in 3 calls\n {2}no longer: read data .*\n {2}no longer: read more .*\n {2}no longer: write, change and delete out .*\n {2}still: read data\/a\.txt/,
  );
  assert.deepEqual(JSON.parse(await project.read("orrery.lock")).gadgets[0].permissions, {
    read: ["data/a.txt"],
  });
  assert.equal((await project.run(["run", "a.calls"])).code, 0);
  assert.equal((await project.run(["run", "b.calls"])).code, 5);
});
