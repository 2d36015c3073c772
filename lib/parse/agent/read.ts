import { byPlace, nearestName, orMeant, sha256, type Span } from "../../core/core.ts";
import { FilePart, type FilePath, type FileReading, type Finding, pathText } from "../shape/shape.ts";
import { MOST_TOLD } from "../yaml/check_fields.ts";
import type { YamlProblem } from "../yaml/problem.ts";
import { type ReadYaml, readYaml } from "../yaml/yaml.ts";
import type { AgentCode, AgentFile, AgentProblem } from "./agent.ts";
import { AGENT_ROOT, type AgentStructure } from "./schema.ts";
import { agentTree, flowsOf, gotoProblem, repeatProblem, stepPlaces } from "./tree.ts";

/** What was read of an agent file. */
export interface ReadAgentFile {
  /** Undefined when there is an error. */
  readonly agent: AgentFile | undefined;
  /** Errors, and warnings about what is deprecated, in the order of the text. */
  readonly problems: readonly AgentProblem[];
}

/** Reads a `*.agent.yml` file (conversations.md 1) and tells everything that is wrong with it. @param options `file`: its name in messages */
export async function readAgentFile(
  text: string,
  { file }: { readonly file: string },
): Promise<ReadAgentFile> {
  const reading = await AgentReading.of({ text, file });
  const { yaml: { value, lost } } = reading;
  if (lost !== undefined) return { agent: undefined, problems: reading.problems };
  const structure = AGENT_ROOT.read(new FilePart(value, [], reading));
  checkReferences(structure, reading);
  const agent = reading.isSound ? { file, text, hash: sha256(text), ...structure } : undefined;
  return { agent, problems: reading.problems };
}

const CODES: Readonly<Record<NonNullable<Finding["kind"]>, AgentCode>> = {
  value: "E600",
  "unknown-key": "E602",
  missing: "E603",
  "json-path": "E607",
  deprecated: "W626",
};

/**
 * One look through an agent file: gathers what is wrong in it. A file with one bad key is still looked at as a whole, and what the YAML library
 * itself says of an error is told as it is.
 */
export class AgentReading implements FileReading {
  readonly yaml: ReadYaml;
  readonly #file: string;
  readonly #problems: AgentProblem[];
  /** Parts that are no good YAML: what they were taken for is nobody's mistake. */
  readonly #broken: ReadonlySet<string>;
  #isSound: boolean;

  private constructor(yaml: ReadYaml, file: string) {
    this.yaml = yaml;
    this.#file = file;
    const found = yamlProblems(yaml).slice(0, MOST_TOLD);
    this.#isSound = found.length === 0;
    this.#broken = new Set(found.flatMap(({ broken }) => broken === undefined ? [] : [pathText(broken)]));
    this.#problems = found.map(({ span: { line, column }, broken: _broken, path = [], ...problem }) => (
      { file, line, column, path: pathText(path), severity: "error", ...problem }
    ));
  }

  static async of({ text, file }: Pick<AgentFile, "text" | "file">): Promise<AgentReading> {
    return new AgentReading(await readYaml(text, file), file);
  }

  /** Notes what is wrong; so many problems are noted of one file as of any other. */
  tell(
    path: FilePath,
    { at, kind = "value", code = CODES[kind], message, hint }: Finding & { readonly code?: AgentCode },
  ): void {
    const text = pathText(path);
    if (this.#broken.has(text)) return;
    const severity = code.startsWith("W") ? "warning" : "error";
    if (severity === "error") this.#isSound = false;
    if (this.#problems.length >= MOST_TOLD) return;
    const { line, column } = this.yaml.near(path, at);
    this.#problems.push({ file: this.#file, line, column, path: text, message, severity, code, hint });
  }

  span(path: FilePath): Span {
    return this.yaml.near(path, "key");
  }

  written(path: FilePath): string | undefined {
    return this.yaml.written(path);
  }

  /** Whether there was no error, told or not. */
  get isSound(): boolean {
    return this.#isSound;
  }

  /** Whether there are errors, and so many that no more are noted. */
  get isFull(): boolean {
    return !this.#isSound && this.#problems.length >= MOST_TOLD;
  }

  /** In the order of the text. */
  get problems(): readonly AgentProblem[] {
    return this.#problems.toSorted(byPlace);
  }
}

/** What the YAML of an agent file is wrong in. */
interface AgentYamlProblem extends Pick<AgentProblem, "message" | "code" | "hint"> {
  readonly span: Span;
  /** Absent for the whole file. */
  readonly path?: FilePath;
  /** The part that cannot be read for it: nothing more is to be told of that. */
  readonly broken?: FilePath;
}

function yamlProblems({ syntax, second, lost, tree, source }: ReadYaml): readonly AgentYamlProblem[] {
  const { text, spanOf } = source;
  const isTemplate = ({ error, range: [start] }: YamlProblem) =>
    // YAML reads `{{x}}` as a mapping whose key is a mapping
    error?.code === "NON_STRING_KEY" && text.slice(start - 1, start + 1) === "{{";
  // More are not told, and finding the path of each takes a look through all that stands beside it.
  const unquoted = syntax.filter(isTemplate).slice(0, MOST_TOLD);
  const templates = unquoted.map(({ range: [start] }): AgentYamlProblem => {
    const end = text.indexOf("}}", start);
    const path = tree.pathAt(start - 1);
    return {
      span: spanOf([start - 1, end === -1 ? start + 1 : end + 2]),
      path,
      broken: path,
      code: "E606",
      message: 'looks like a template without quotes; write it as "{{slot}}" in quotes',
    };
  });
  const told = new Set(templates.map(({ span }) => span.line));
  const others = syntax.filter((problem) => !isTemplate(problem)).map((problem) =>
    notYaml(problem, spanOf(problem.range))
  )
    .filter(({ span }) => !told.has(span.line)); // what follows a template without quotes cannot be read either
  if (lost !== undefined) return [...templates, ...others];
  return [
    ...templates,
    ...others,
    ...tree.problems.slice(0, MOST_TOLD).map((problem) => ({
      ...notYaml(problem, spanOf(problem.range)),
      broken: problem.repeated === undefined ? tree.pathAt(problem.range[0]) : undefined,
    })),
    ...second.map(({ range }): AgentYamlProblem => ({
      span: spanOf(range),
      code: "E601",
      message: "has more than one YAML document; keep one agent per file",
    })),
  ];
}

function notYaml({ error, repeated, message, hint }: YamlProblem, span: Span): AgentYamlProblem {
  const words = repeated !== undefined
    ? `Map keys must be unique: ${JSON.stringify(repeated.key)} is there from line ${repeated.firstLine} on`
    : error === undefined || error.code === "RESOURCE_EXHAUSTION" // of that the library tells what happened to itself
    ? message
    : error.message;
  return {
    span,
    code: "E601",
    message: `not valid YAML at line ${span.line}, column ${span.column}: ${words}`,
    hint,
  };
}

/** Notes what the parts of an agent say of each other and does not fit: ids that are there twice, jumps and constants that lead nowhere. */
function checkReferences({ root, constants }: AgentStructure, reading: AgentReading): void {
  const tree = agentTree(root);
  const first = new Map<string, FilePath>();
  for (const { step, path } of stepPlaces(root)) {
    if (reading.isFull) return; // each unknown id is compared with all others
    const { id } = step;
    const before = first.get(id);
    if (before === undefined) first.set(id, path);
    else if (id !== "") {
      const message = `step id ${JSON.stringify(id)} is already used at ${pathText(before)}`;
      reading.tell([...path, "id"], { code: "E604", message });
    }
    for (const { flow, path: at } of flowsOf(step)) {
      if ("action" in flow) {
        const message = flow.action === "repeat" ? repeatProblem(tree, id) : undefined;
        if (message !== undefined) reading.tell([...path, ...at], { code: "E605", message, at: "key" });
      } else if (!flow.goto.includes("{{") && flow.goto !== "") {
        const message = gotoProblem(tree, { from: id, target: flow.goto });
        if (message !== undefined) reading.tell([...path, ...at, "goto"], { code: "E605", message });
      }
    }
    ("prompts" in step ? step.prompts : []).forEach((prompt, index) => {
      if (prompt.role !== "constant" || prompt.name === "" || Object.hasOwn(constants, prompt.name)) return;
      const near = nearestName(prompt.name, Object.keys(constants));
      const message = `there is no constant ${JSON.stringify(prompt.name)}${orMeant(near)}`;
      reading.tell([...path, step.kind, "prompts", index, "constant"], { code: "E605", message });
    });
  }
}
