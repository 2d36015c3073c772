import { byPlace, nearestName, orMeant, sha256, type Span } from "../../core/core.ts";
import { FilePart, type FilePath, type FileReading, type Finding, pathText } from "../shape/shape.ts";
import { MOST_TOLD } from "../yaml/check_fields.ts";
import type { AgentCode, AgentFile, AgentProblem } from "./agent.ts";
import { AGENT_ROOT, type AgentStructure } from "./schema.ts";
import { agentTree, flowsOf, gotoProblem, repeatProblem, stepPlaces } from "./tree.ts";
import { type AgentYaml, readAgentYaml } from "./yaml.ts";

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
  const yaml = await readAgentYaml(text);
  const reading = new AgentReading(yaml, file);
  if (yaml.isLost) return { agent: undefined, problems: reading.problems };
  const structure = AGENT_ROOT.read(new FilePart(yaml.value, [], reading));
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

/** One look through an agent file: gathers what is wrong in it. */
export class AgentReading implements FileReading {
  readonly #file: string;
  readonly #yaml: AgentYaml;
  readonly #problems: AgentProblem[] = [];
  /** Parts that are no good YAML: what they were taken for is nobody's mistake. */
  readonly #broken = new Set<string>();
  #isSound: boolean;

  constructor(yaml: AgentYaml, file: string) {
    this.#file = file;
    this.#yaml = yaml;
    this.#isSound = yaml.problems.length === 0;
    for (const { path, broken, length: _length, ...problem } of yaml.problems) {
      if (broken !== undefined) this.#broken.add(pathText(broken));
      this.#problems.push({ file, ...problem, path: pathText(path), severity: "error" });
    }
  }

  /** Notes what is wrong; so many problems are noted of one file as of any other. */
  tell(
    path: FilePath,
    { at = "value", kind = "value", code = CODES[kind], message, hint }: Finding & {
      readonly code?: AgentCode;
    },
  ): void {
    const text = pathText(path);
    if (this.#broken.has(text)) return;
    const severity = code.startsWith("W") ? "warning" : "error";
    if (severity === "error") this.#isSound = false;
    if (this.#problems.length >= MOST_TOLD) return;
    const { line, column } = typeof at === "string"
      ? this.#yaml.place(path, at)
      : this.#yaml.place([...path, at.key], "key");
    this.#problems.push({ file: this.#file, line, column, path: text, message, severity, code, hint });
  }

  span(path: FilePath): Span {
    return { file: this.#file, ...this.#yaml.place(path, "key") };
  }

  written(path: FilePath): string | undefined {
    return this.#yaml.written(path);
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
