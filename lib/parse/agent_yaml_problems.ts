import type { Document, YAMLError } from "yaml";
import type { SourceError } from "../core/source_error.ts";
import type { AgentPath } from "./agent_path.ts";
import type { AgentPlace, AgentPlaces } from "./agent_place.ts";
import type { AgentCode } from "./agent_problem.ts";
import { MOST_TOLD } from "./check_fields.ts";
import { isWayLost } from "./yaml_documents.ts";
import type { YamlLibrary } from "./yaml_library.ts";
import { yamlPathAt } from "./yaml_path_at.ts";
import { RepeatedKeyError, yamlProblem } from "./yaml_problem.ts";
import type { YamlTree } from "./yaml_tree.ts";

/** What the YAML of an agent file is wrong in. */
export interface AgentYamlProblem extends AgentPlace {
  /** Empty for the whole file. */
  readonly path: AgentPath;
  /** The part that cannot be read for it: nothing more is to be told of that. */
  readonly broken?: AgentPath;
  readonly message: string;
  readonly code: AgentCode;
  readonly hint?: string;
}

/** A text that was taken for YAML, and what was made of it. */
export interface AgentYamlSource {
  readonly text: string;
  readonly places: AgentPlaces;
  readonly documents: readonly Document[];
  readonly tree: YamlTree;
  readonly library: YamlLibrary;
}

/** What the library and the tree found wrong, in the words of agent files. */
export interface AgentYamlProblems {
  readonly problems: readonly AgentYamlProblem[];
  /** The library has lost its way: what it made of the text is not what was meant. */
  readonly isLost: boolean;
}

/** Tells what is wrong; behind the place where the way was lost nothing counts. */
export function agentYamlProblems(source: AgentYamlSource): AgentYamlProblems {
  const found = source.documents.flatMap(({ errors, warnings }) => [...errors, ...warnings]);
  const lost = found.find(isWayLost);
  const templates = found.filter((error) => isTemplate(error, source)).slice(0, MOST_TOLD)
    .map((error) => templateProblem(error, source));
  const told = new Set(templates.map(({ line }) => line));
  const others = found
    .filter((error) => error === lost || !(isWayLost(error) || isTemplate(error, source)))
    .slice(0, MOST_TOLD)
    .map((error) => errorProblem(error, source))
    .filter(({ line }) => !told.has(line)); // what follows a template without quotes cannot be read either
  const more = lost === undefined ? [...treeProblems(source), ...secondDocument(source)] : [];
  return { problems: [...templates, ...others, ...more], isLost: lost !== undefined };
}

/** YAML reads `{{x}}` as a mapping whose key is a mapping. */
function isTemplate({ code, pos: [start] }: YAMLError, { text }: AgentYamlSource): boolean {
  return code === "NON_STRING_KEY" && text.slice(start - 1, start + 1) === "{{";
}

function templateProblem({ pos: [start] }: YAMLError, source: AgentYamlSource): AgentYamlProblem {
  const end = source.text.indexOf("}}", start);
  const place = source.places.of([start - 1, end === -1 ? start + 1 : end + 2]);
  const path = pathAt(start - 1, source);
  const message = 'looks like a template without quotes; write it as "{{slot}}" in quotes';
  return { ...place, path, broken: path, code: "E606", message };
}

function errorProblem(error: YAMLError, { text, places }: AgentYamlSource): AgentYamlProblem {
  const { message, hint } = yamlProblem(error, { text });
  // Of levels that are too many the library tells what happened to itself.
  return notYaml(places.of(error.pos), error.code === "RESOURCE_EXHAUSTION" ? message : error.message, hint);
}

function treeProblems(source: AgentYamlSource): readonly AgentYamlProblem[] {
  return source.tree.problems.slice(0, MOST_TOLD).map((problem) => treeProblem(problem, source));
}

function treeProblem(problem: SourceError, source: AgentYamlSource): AgentYamlProblem {
  const { line = 1, column = 1, length = 1 } = problem.span ?? {};
  const place = { line, column, length };
  if (problem instanceof RepeatedKeyError) {
    const { key, firstLine, hint } = problem;
    const words = `Map keys must be unique: ${JSON.stringify(key)} is there from line ${firstLine} on`;
    return notYaml(place, words, hint);
  }
  const broken = pathAt(source.places.offset(place), source);
  return { ...notYaml(place, problem.message, problem.hint), broken };
}

function notYaml(place: AgentPlace, words: string, hint: string | undefined): AgentYamlProblem {
  const message = `not valid YAML at line ${place.line}, column ${place.column}: ${words}`;
  return { ...place, path: [], code: "E601", message, hint };
}

function secondDocument({ documents, text, places }: AgentYamlSource): readonly AgentYamlProblem[] {
  const second = documents[1];
  if (second === undefined) return [];
  const start = Math.max(0, text.lastIndexOf("---", second.range?.[0] ?? 0));
  const message = "has more than one YAML document; keep one agent per file";
  return [{ ...places.of([start, start + 3]), path: [], code: "E601", message }];
}

function pathAt(offset: number, { documents, library }: AgentYamlSource): AgentPath {
  return yamlPathAt(documents[0]?.contents ?? null, offset, library);
}
