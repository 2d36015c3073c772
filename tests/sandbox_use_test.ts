// What gadgets really used: counted where their policy is asked, kept over runs, and `orrery trust --minimise`.
import fc from "fast-check";
import assert from "node:assert/strict";
import { join } from "node:path";
import { PermissionRefused, type Policy } from "../mod.ts";
import { parseLock } from "../lib/catalog/lock_file.ts";
import { alone } from "../lib/host/files/journal_files.ts";
import { hostFiles } from "../lib/host/files/files.ts";
import { entryHolds } from "../lib/policy/permission_sets.ts";
import { countedPolicy, minimisedPermissions, UseTally } from "../lib/policy/use_tally.ts";
import { gadgetUse, keepGadgetUse } from "../lib/project/trust/gadget_use.ts";
import { testProject } from "./_project.ts";

const PLACE = { root: "/project" };

Deno.test("use: what was permitted is counted, and nothing else", async () => {
  const refused = new PermissionRefused("no", { request: { kind: "read", value: "/b" }, flag: "" });
  const policy: Policy = {
    check: () => undefined,
    permit({ value }) {
      if (value === "/b") throw refused;
      return value === "/c" ? Promise.resolve() : value === "/d" ? Promise.reject(refused) : undefined;
    },
    describe: () => [],
  };
  const seen: string[] = [];
  const counted = countedPolicy(policy, ({ value }) => void seen.push(value));
  counted.check({ kind: "read", value: "/checked" });
  await counted.permit({ kind: "read", value: "/a" });
  assert.throws(() => counted.permit({ kind: "read", value: "/b" }), refused);
  await counted.permit({ kind: "read", value: "/c" });
  await assert.rejects(async () => await counted.permit({ kind: "read", value: "/d" }), refused);
  assert.deepEqual(seen, ["/a", "/c"]);
});

Deno.test("use: an entry of many values is bounded, and stays whole; others are not lost for it", () => {
  const granted = { read: ["data", "one", "none"], env: ["HOME", "ABSENT"], net: true } as const;
  const tally = new UseTally(granted, PLACE);
  for (let at = 0; at < 1_000; at++) tally.used({ kind: "read", value: `/project/data/${at}` });
  for (let at = 0; at < 3; at++) tally.used({ kind: "read", value: "/project/one/a" });
  tally.used({ kind: "net", value: "example.com:443" });
  for (const value of ["HOME", "PATH", "HOME"]) tally.told({ kind: "env", value }); // what it was not granted it may say for nothing
  const { used } = tally.use;
  assert.ok(used.length < 20, String(used.length));
  assert.equal(used.find(({ value }) => value === "/project/one/a")?.count, 3);
  assert.deepEqual(minimisedPermissions(granted, used, PLACE), {
    read: ["data", "one/a"],
    net: ["example.com:443"],
    env: ["HOME"],
  });
});

Deno.test("use: of many files their folders are left, not the whole grant and not a thousand names", () => {
  const granted = { read: ["."], write: true } as const;
  const tally = new UseTally(granted, PLACE);
  for (let at = 0; at < 1_000; at++) tally.used({ kind: "read", value: `/project/notes/${at % 2}/${at}.md` });
  tally.used({ kind: "read", value: "/project/package.json" });
  for (let at = 0; at < 40; at++) tally.used({ kind: "write", value: `/project/out/${at}/page.html` });
  assert.ok(tally.use.used.length < 30);
  const left = { read: ["notes/0", "notes/1", "package.json"], write: ["out"] };
  assert.deepEqual(minimisedPermissions(granted, tally.use.used, PLACE), left);
  const again = new UseTally(granted, PLACE); // as it is kept, over two runs
  again.add(tally.use);
  again.add(tally.use);
  assert.deepEqual(minimisedPermissions(granted, again.use.used, PLACE), left);
});

Deno.test("use: a folder that was listed says more than the files in it", () => {
  const tally = new UseTally({ read: ["notes", "other"] }, PLACE);
  for (const value of ["/project/notes/a.md", "/project/notes", "/project/notes/b.md"]) {
    tally.used({ kind: "read", value });
  }
  assert.deepEqual(tally.use.used, [{ kind: "read", value: "/project/notes", count: 3 }]);
  assert.deepEqual(minimisedPermissions({ read: ["notes", "other"] }, tally.use.used, PLACE), {
    read: ["notes"],
  });
  const files = ["/project/notes", "/project/notes/a.md"].map((value) => ({
    kind: "read" as const,
    value,
    count: 1,
  }));
  assert.deepEqual(minimisedPermissions({ read: ["notes"] }, files, PLACE), { read: ["notes"] });
});

Deno.test("use: files all over the system need what they were granted", () => {
  const tally = new UseTally({ read: true }, PLACE);
  for (let at = 0; at < 40; at++) tally.used({ kind: "read", value: `/${at}` });
  assert.deepEqual(minimisedPermissions({ read: true }, tally.use.used, PLACE), { read: true });
});

Deno.test("use: bounded or not, added in parts or not, the same is left of a grant", () => {
  const path = fc.tuple(fc.constantFrom("a", "a/b", "c", "elsewhere"), fc.nat(30))
    .map(([folder, file]) => `/project/${folder}/${file}`);
  const entries = fc.uniqueArray(fc.constantFrom("a", "a/b", "c", "a/b/1"), { minLength: 1 });
  fc.assert(fc.property(entries, fc.array(path, { maxLength: 80 }), fc.nat(80), (read, paths, cut) => {
    const granted = { read };
    const all = [...new Set(paths)].map((value) => ({ kind: "read" as const, value, count: 1 }));
    const parts = [paths.slice(0, cut), paths.slice(cut)].map((part) => {
      const tally = new UseTally(granted, PLACE);
      part.forEach((value) => tally.used({ kind: "read", value }));
      return tally.use;
    });
    const sum = new UseTally(granted, PLACE);
    parts.forEach((part) => sum.add(part));
    const left = minimisedPermissions(granted, sum.use.used, PLACE).read ?? [];
    const wanted = minimisedPermissions(granted, all, PLACE).read ?? [];
    assert.ok(left !== true && wanted !== true);
    const holds = (list: readonly string[], value: string) =>
      list.some((entry) => entryHolds(entry, value, { kind: "read", ...PLACE }));
    for (const value of paths) assert.equal(holds(left, value), holds(wanted, value), value);
  }));
});

Deno.test("use: kept over runs for the code that it was; a broken file is counted anew", async () => {
  const folder = await Deno.makeTempDir({ prefix: "orrery-use-" });
  try {
    const place = { root: "/project", state: hostFiles({ root: folder, mode: 0o600 }) };
    const gadget = {
      name: "Fetch",
      file: "gadgets/fetch.ts",
      permissions: { read: true as const },
      modules: { "gadgets/fetch.ts": "00" },
    };
    const run = async (modules: Readonly<Record<string, string>>, value: string) => {
      const tally = new UseTally({ read: true }, place);
      tally.called();
      tally.used({ kind: "read", value });
      await keepGadgetUse([{ gadget: { ...gadget, modules }, tally }], place);
    };
    await run(gadget.modules, "/project/a");
    await run(gadget.modules, "/project/b");
    assert.deepEqual(await gadgetUse(gadget, place), {
      calls: 2,
      used: [{ kind: "read", value: "/project/a", count: 1 }, {
        kind: "read",
        value: "/project/b",
        count: 1,
      }],
    });
    const [file] = [...Deno.readDirSync(join(folder, "gadget-use"))];
    const path = join(folder, "gadget-use", file?.name ?? "");
    if (Deno.build.os !== "windows") assert.equal(((await Deno.stat(path)).mode ?? 0) & 0o777, 0o600);
    await run({ "gadgets/fetch.ts": "11" }, "/project/c");
    assert.equal((await gadgetUse(gadget, place)).calls, 0);
    for (const text of ["{", "[]", '{"version":1,"root":"/other","gadgets":[]}', '{"version":2}']) {
      await Deno.writeTextFile(path, text);
      assert.equal((await gadgetUse(gadget, place)).calls, 0);
    }
    await run(gadget.modules, "/project/d");
    assert.equal((await gadgetUse(gadget, place)).calls, 1);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("use: of runs that end at the same time none is lost", async () => {
  const folder = await Deno.makeTempDir({ prefix: "orrery-use-" });
  try {
    const place = {
      root: "/project",
      state: hostFiles({ root: folder, mode: 0o600 }),
      alone: (name: string, work: () => Promise<void>) => alone(join(folder, name), work),
    };
    const modules = { "gadgets/fetch.ts": "00" };
    const gadget = { name: "Fetch", file: "gadgets/fetch.ts", permissions: { read: true as const }, modules };
    await Promise.all(Array.from({ length: 20 }, async (_, at) => {
      const tally = new UseTally({ read: true }, place);
      tally.called();
      tally.used({ kind: "read", value: `/project/${at % 4}` });
      await keepGadgetUse([{ gadget, tally }], place);
    }));
    const { calls, used } = await gadgetUse(gadget, place);
    assert.equal(calls, 20);
    assert.deepEqual(used.map(({ count }) => count), [5, 5, 5, 5]);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

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
  assert.deepEqual(parseLock(await project.read("orrery.lock"), "").gadgets[0]?.permissions, {
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
    Object.keys(parseLock(await project.read("orrery.lock"), "").gadgets[0]?.modules ?? {}),
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
  assert.deepEqual(parseLock(await project.read("orrery.lock"), "").gadgets[0]?.permissions, {
    read: ["data/a.txt"],
  });
  assert.equal((await project.run(["run", "a.calls"])).code, 0);
  assert.equal((await project.run(["run", "b.calls"])).code, 5);
});
