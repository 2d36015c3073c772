// `orrery list gadgets`: what is granted, and how modules that cannot be loaded are told.
import assert from "node:assert/strict";
import { join } from "node:path";
import { type TestProject, testProject } from "./_project.ts";

interface Row {
  readonly name: string;
  readonly state: string;
  readonly problem?: string;
  readonly grant?: {
    readonly state: string;
    readonly from: readonly string[];
    readonly permissions?: unknown;
  };
}

async function row(project: TestProject, name: string, ...flags: readonly string[]): Promise<Row> {
  const { stdout, stderr } = await project.run(["list", "gadgets", "--json", ...flags]);
  const rows: readonly Row[] = JSON.parse(stdout);
  const found = rows.find((each) => each.name === name);
  assert.ok(found, `${name} is not listed: ${stderr}`);
  return found;
}

async function writeUserSettings(project: TestProject, settings: unknown): Promise<void> {
  const folder = join(project.env.XDG_CONFIG_HOME ?? "", "orrery");
  await Deno.mkdir(folder, { recursive: true });
  await Deno.writeTextFile(join(folder, "config.yaml"), JSON.stringify(settings));
}

Deno.test("what settings grant RunCommand is listed, with who granted it", async () => {
  await using project = await testProject({
    "orrery.yaml": JSON.stringify({
      grants: { RunCommand: { run: ["git", "ls"] }, Fetch: { net: ["a.example"] } },
    }),
    "gadgets/fetch.ts":
      `export default { name: "Fetch", description: "Test.", permissions: { net: true }, run: () => 1 };`,
  });
  assert.equal((await row(project, "RunCommand")).grant, undefined, "nobody has accepted the project");
  assert.deepEqual((await row(project, "RunCommand", "--trust-project")).grant, {
    state: "granted",
    from: ["the project"],
    changes: [],
    permissions: { run: ["git", "ls"] },
  });
  const { stdout } = await project.run(["list", "gadgets"]);
  assert.match(stdout, /^RunCommand +built in +ready +read, run +the project: run \(git, ls\)$/m);
  assert.match(stdout, /^Fetch +gadgets\/fetch\.ts +ready +net +the project: net \(a\.example\)$/m);
  assert.match(stdout, /^ReadFile +built in +ready +read$/m);
  assert.match(
    (await project.run(["show", "gadget", "RunCommand"])).stdout,
    /^Grant: the project: run \(git, ls\)$/m,
  );

  // The user's own word counts before the project's.
  await writeUserSettings(project, { grants: { RunCommand: "trusted" } });
  assert.match(
    (await project.run(["list"])).stdout,
    /^RunCommand +built in +ready +read, run +your settings$/m,
  );
});
