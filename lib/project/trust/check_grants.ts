// The lists of `grants:` in both settings files. Loaded only where there are some: what a host or a variable looks like the policy knows.
import { join } from "node:path";
import { builtInGadgets } from "../../../gadgets/built_in.ts";
import type { Config, Grants } from "../../catalog/config/config.ts";
import {
  isJsonObject,
  type Json,
  maybeText,
  ProblemsError,
  projectPath,
  shownPath,
  SourceError,
} from "../../core/core.ts";
import { filesNamed, gadgetCandidates, takenWords } from "../../catalog/trust.ts";
import { hostFiles } from "../../host/files/files.ts";
import { configFolder } from "../../host/paths.ts";
import { parseYaml } from "../../parse/yaml/yaml.ts";
import { type GrantProblem, grantProblems } from "../../policy/gadget_grants.ts";

/**
 * What a project says of its gadgets, each with the file that its name means now: what was accepted was not said of a file that comes later.
 */
export async function withGrantedFiles(
  config: Config,
  { root, cwd }: { readonly root: string; readonly cwd: string },
): Promise<Config> {
  const { project, mcpServers } = config;
  const { candidates } = await gadgetCandidates({ cwd, disk: hostFiles({ root }), config });
  const servers = Object.keys({ ...mcpServers, ...project.mcpServers });
  const named = { root, cwd, isTaken: takenWords(Object.keys(builtInGadgets), servers) };
  const parts = Object.entries(project.parts).map(([part, value]): [string, Json] => {
    if (part !== "grants" && part !== "gadgets.isolation" || !isJsonObject(value)) return [part, value];
    const entries = Object.entries(value).map(([word, said]): [string, Json] => {
      const [found, other] = filesNamed(word, candidates, named);
      const isOne = found !== undefined && other === undefined;
      return [isOne ? `${word}\0${projectPath(found.path, root)}` : word, said];
    });
    return [part, Object.fromEntries(entries)];
  });
  return { ...config, project: { ...project, parts: Object.fromEntries(parts) } };
}

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

function foundIn(grants: Grants): readonly Found[] {
  return Object.entries(grants).flatMap(([name, grant]): readonly Found[] =>
    grantProblems(grant).map((each) => {
      const [kind, index] = each.path;
      const list = grant === "trusted" ? undefined : grant[kind];
      return { ...each, name, entry: list === undefined || list === true ? "" : list[index] ?? "" };
    })
  );
}

async function problemsIn(path: string, grants: Grants, cwd: string): Promise<readonly SourceError[]> {
  if (foundIn(grants).length === 0) return [];
  const file = shownPath(path, cwd);
  const text = await maybeText(hostFiles({ root: cwd }), path) ?? "";
  const document = await parseYaml(text, { file });
  // As it was checked already, with the names as they are written: `grants` has what they mean here.
  const { grants: written = {} } = document.value as { readonly grants?: Grants };
  return foundIn(written).map(({ name, path: inside, entry, problem }) => {
    const span = document.at(["grants", name, ...inside]);
    return new SourceError(
      `Found ${JSON.stringify(entry)} for grants.${name}.${inside.join(".")}: ${problem}`,
      {
        code: "E-config",
        source: text,
        span,
      },
    );
  });
}
