import type { SourceError } from "../core/source_error.ts";
import { agentProfile, defaultsProblems } from "./agent_profile.ts";
import { problemAt } from "./config_problem.ts";
import type { ConfigLayers } from "./merge_config.ts";

/** What is wrong with the agents that `orrery.yaml` holds itself; those of other files are read where agents are wanted. */
export function agentProblems({ project }: Pick<ConfigLayers, "project">): readonly SourceError[] {
  const { agents = [], agentDefaults: defaults = {} } = project.values;
  const problem = (path: readonly (string | number)[], message: string) =>
    problemAt(project, path, { message, what: "key" });
  const ofEntries = agents.flatMap((entry, index) => {
    if (typeof entry === "string") return [];
    const read = agentProfile(entry, { defaults, label: `agents[${index}]` });
    const found = "problems" in read ? read.problems : [];
    return found.map(({ path, message }) => problem(["agents", index, ...path], message));
  });
  const ofDefaults = defaultsProblems(defaults).map(({ path, message }) =>
    problem(["agentDefaults", ...path], message)
  );
  return [...ofDefaults, ...ofEntries];
}

const OF_PROJECTS = ["prompts", "tactics", "agents", "agentDefaults", "exclude"] as const;

/** The user's own file has no prompts and no agents: they are a project's. */
export function projectOnlyNotices({ user }: Pick<ConfigLayers, "user">): readonly string[] {
  return OF_PROJECTS.filter((key) => user.values[key] !== undefined).map((key) => {
    const { file = "config.yaml", line = 1, column = 1 } = user.at([key], "key") ?? {};
    return `${file}:${line}:${column}: "${key}" is ignored here: it belongs in the orrery.yaml of a project`;
  });
}
