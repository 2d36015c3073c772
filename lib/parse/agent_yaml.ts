// Read here and not by parseYaml: a file with one bad key is still looked at as a whole, and what the library itself says of an error
// is told as it is.

import type { AgentPath } from "./agent_path.ts";
import { type AgentPlace, AgentPlaces } from "./agent_place.ts";
import { type AgentYamlProblem, agentYamlProblems } from "./agent_yaml_problems.ts";
import { yamlDocuments } from "./yaml_documents.ts";
import { yamlLibrary } from "./yaml_library.ts";
import { yamlPathAt } from "./yaml_path_at.ts";
import type { YamlRange } from "./yaml_problem.ts";
import { readYamlTree, type YamlTree } from "./yaml_tree.ts";

/** The YAML of an agent file. */
export interface AgentYaml {
  /** Plain data; null for an empty file. */
  readonly value: unknown;
  readonly problems: readonly AgentYamlProblem[];
  /** The value is not what was meant, so that it is of no use to look for more in it. */
  readonly isLost: boolean;
  /** Where a part stands, its key or its value; of one that is not there, where what holds it stands. */
  place(path: AgentPath, what: "key" | "value"): AgentPlace;
  /** A scalar as it is written, so that 1.10 stays 1.10; undefined for other values, and where an alias stands. */
  written(path: AgentPath): string | undefined;
  /** Numbers that were taken as text. */
  readonly digits: readonly { readonly path: AgentPath; readonly text: string }[];
}

/** Reads the YAML of an agent file as far as it can be read. */
export async function readAgentYaml(text: string): Promise<AgentYaml> {
  const library = await yamlLibrary();
  const documents = yamlDocuments(text, library);
  const tree = readYamlTree(documents[0]?.contents ?? null, { library, source: { text } });
  const places = new AgentPlaces(text);
  return {
    value: tree.value,
    ...agentYamlProblems({ text, places, documents, tree, library }),
    place: (path, what) => places.of(rangeOf(tree, path, what)),
    written: (path) => tree.written(path),
    digits: tree.digits.map(([start, end]) => ({
      path: yamlPathAt(documents[0]?.contents ?? null, start, library),
      text: text.slice(start, end),
    })),
  };
}

function rangeOf(tree: YamlTree, path: AgentPath, what: "key" | "value"): YamlRange {
  for (let length = path.length; length >= 0; length--) {
    const range = tree.rangeOf(path.slice(0, length), length === path.length ? what : "value");
    if (range !== undefined) return range;
  }
  return [0, 1];
}
