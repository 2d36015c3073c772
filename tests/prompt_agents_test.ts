// The profiles of `agents:` in orrery.yaml, as the command line lists them, checks them and gives them to tactics.
import assert from "node:assert/strict";
import { testProject } from "./_project.ts";
import cases from "./spec/prompts/config.json" with { type: "json" };

interface ConfigCase {
  readonly name: string;
  readonly input: {
    readonly project: unknown;
    readonly prompts: readonly string[];
    readonly tactic?: { readonly name: string; readonly agents: readonly string[] };
  };
  readonly expected?: Readonly<Record<string, unknown>>;
  readonly error?: string;
}

const tacticModule = ({ name, agents }: NonNullable<ConfigCase["input"]["tactic"]>) =>
  `import { defineTactic } from "orrery";
export default defineTactic({ name: "${name}", agents: ${JSON.stringify(agents)}, call: () => "called" });
`;

for (
  const { name, input: { project: settings, prompts, tactic }, expected, error }
    of cases as readonly ConfigCase[]
) {
  Deno.test(`agents: ${name}`, async () => {
    await using project = await testProject({
      "orrery.yaml": JSON.stringify(settings),
      ...Object.fromEntries(prompts.map((path) => [`prompts/${path}.prompt.md`, path])),
      ...(tactic !== undefined && { "tactics/t.ts": tacticModule(tactic) }),
    });
    const listed = await project.run(["list", "profiles", "--json"]);
    const run = tactic && await project.run(["run", tactic.name, "--trust-code", "--quiet"]);
    if (error === undefined) {
      assert.deepEqual([listed.code, listed.stderr], [0, ""]);
      const { profiles, problems } = JSON.parse(listed.stdout);
      assert.deepEqual([profiles, problems], [Object.values(expected ?? {}), []]);
      if (run !== undefined) assert.deepEqual([run.code, run.stdout, run.stderr], [0, "called", ""]);
      return;
    }
    const told = run ?? listed;
    assert.equal(told.code, run === undefined && listed.stdout !== "" ? 0 : 2, told.stderr);
    assert.ok(
      told.stderr.includes(error) || listed.stdout.includes(JSON.stringify(error).slice(1, -1)),
      told.stderr,
    );
  });
}
