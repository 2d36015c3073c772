// The lists of `grants:` in both settings files. Loaded only where there are some: what a host or a variable looks like the policy knows.
import type { Config, Grants } from "../catalog/config.ts";
import { shownPath } from "../catalog/shown_path.ts";
import { maybeText } from "../core/maybe_text.ts";
import { join } from "../core/path.ts";
import { ProblemsError } from "../core/problems_error.ts";
import { SourceError } from "../core/source_error.ts";
import { hostFiles } from "../host/files.ts";
import { configFolder } from "../host/paths.ts";
import { parseYaml } from "../parse/yaml.ts";
import { type GrantProblem, grantProblems } from "../policy/gadget_grants.ts";

/** Looks at every grant of permissions. @throws {ProblemsError} with the places of all that is wrong */
export async function checkGrants(
  { grants, project }: Pick<Config, "grants" | "project">,
  { root, cwd }: { readonly root: string; readonly cwd: string },
): Promise<void> {
  const problems = [
    ...await problemsIn(join(root, "orrery.yaml"), project.grants, cwd),
    ...await problemsIn(join(configFolder() ?? root, "config.yaml"), grants, cwd),
  ];
  if (problems.length > 0) throw new ProblemsError(problems);
}

interface Found extends GrantProblem {
  readonly name: string;
  readonly entry: string;
}

async function problemsIn(path: string, grants: Grants, cwd: string): Promise<readonly SourceError[]> {
  const found = Object.entries(grants).flatMap(([name, grant]): readonly Found[] =>
    grantProblems(grant).map((each) => {
      const [kind, index] = each.path;
      const list = grant === "trusted" ? undefined : grant[kind];
      return { ...each, name, entry: list === undefined || list === true ? "" : list[index] ?? "" };
    })
  );
  if (found.length === 0) return [];
  const file = shownPath(path, cwd);
  const text = await maybeText(hostFiles({ root: cwd }), path) ?? "";
  const document = await parseYaml(text, { file });
  return found.map(({ name, path: inside, entry, problem }) => {
    const span = document.at(["grants", name, ...inside]);
    return new SourceError(
      `Found ${JSON.stringify(entry)} for grants.${name}.${inside.join(".")}: ${problem}`,
      {
        code: "E-config",
        source: text,
        ...(span && { span }),
      },
    );
  });
}
