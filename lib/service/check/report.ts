import { resolve } from "node:path";
import { byPlace, ProblemsError, SourceError } from "../../core/source_error.ts";
import { lookAt } from "../../host/paths.ts";
import { findCutValues } from "../../parse/yaml/tags.ts";
import type { ProblemRule, ToldProblem } from "../../render/problems.ts";

/** Something that was found. */
export interface FoundProblem {
  readonly kind: CheckedKind;
  /** Absolute; empty for what is in no file. */
  readonly path: string;
  readonly line: number;
  readonly column: number;
  readonly severity: ToldProblem["severity"];
  readonly message: string;
  /** Where it is known: what kind of problem it is. Default: what the message tells. */
  readonly code?: string;
  /** Default: that of its kind. */
  readonly hint?: string;
}

/** A problem with what is known of its kind. */
export interface ReportedProblem {
  readonly found: FoundProblem;
  readonly rule: ProblemRule;
}

/** What a check found, each problem once: files in the order in which they were looked at, their problems by line. */
export class CheckReport {
  readonly #files = new Map<string, Map<string, FoundProblem>>([["", new Map()]]);
  readonly #texts = new Map<string, string>();

  /** A file is looked at. @param text what is in it, where that is at hand */
  file(path: string, text?: string): void {
    if (!this.#files.has(path)) this.#files.set(path, new Map());
    if (text !== undefined) this.#texts.set(path, text);
  }

  add(problem: FoundProblem): void {
    const { path, line, column, severity, message } = problem;
    this.file(path);
    const problems = this.#files.get(path);
    const key = `${line}:${column}:${severity}:${message}`;
    if (!problems?.has(key)) problems?.set(key, problem);
  }

  /** What is given, or undefined with what was wrong with settings and scripts told. @param folders that their files may be named from */
  async unlessProblems<Given>(
    given: Promise<Given>,
    folders: readonly [string, ...string[]],
    kind: CheckedKind = "settings",
  ): Promise<Given | undefined> {
    try {
      return await given;
    } catch (thrown) {
      for (const problem of thrown instanceof ProblemsError ? thrown.problems : [thrown]) {
        if (!(problem instanceof SourceError)) throw thrown;
        const { span, source, message } = problem;
        const { file } = span ?? {};
        const isThere = (folder: string): boolean =>
          file !== undefined && lookAt(resolve(folder, file)) !== "nothing";
        const path = file === undefined ? "" : resolve(folders.find(isThere) ?? folders[0], file);
        this.file(path, source);
        const { line, column } = span ?? { line: 1, column: 1 };
        this.add({ kind, path, line, column, severity: "error", message });
      }
      return undefined;
    }
  }

  /** Tells which values of a YAML text comments cut. @param linesAbove of the file before the text */
  async cutValues(
    yaml: string,
    { path, kind, linesAbove = 0 }: Pick<FoundProblem, "path" | "kind"> & { readonly linesAbove?: number },
  ): Promise<void> {
    for (const { line, ...cut } of await findCutValues(yaml)) {
      this.add({ kind, path, ...cut, line: line + linesAbove, severity: "warning" });
    }
  }

  has(path: string): boolean {
    return this.#files.has(path);
  }

  textOf(path: string): string | undefined {
    return this.#texts.get(path);
  }

  /** Of every file that was looked at. */
  get paths(): readonly string[] {
    return [...this.#files.keys()].filter((path) => path !== "");
  }

  problems(): readonly ReportedProblem[] {
    return [...this.#files.values()].flatMap((problems) =>
      [...problems.values()]
        .sort(byPlace)
        .map((found) => ({ found, rule: ruleOf(found.kind, found) }))
    );
  }
}

// What each message is about, told by its words, which the specifications fix (documents.md, calls.md): a code that scripts can rely on, and
// what to do where the message does not say it.

/** What the problems of agent files are about (conversations.md 2.12, 2.13): codes from 620 on are of what is likely not meant. */
const AGENT_RULES: readonly Rule[] = [
  agent("600", "agent", "A value in an agent file is not what it has to be."),
  agent("601", "agent-yaml", "An agent file is no YAML, or not one document."),
  agent("602", "agent-unknown-key", "A mapping of an agent file has no such key."),
  agent("603", "agent-missing-key", "A mapping of an agent file lacks a key."),
  agent("604", "agent-repeated-id", "Two steps have the same id."),
  agent(
    "605",
    "agent-reference",
    "A jump or a prompt names something that is not there, or cannot be used so.",
  ),
  agent(
    "606",
    "agent-unquoted-template",
    "A placeholder stands without quotes: YAML takes it for a mapping.",
  ),
  agent("607", "agent-json-path", "A JSONPath cannot be read."),
  agent("620", "agent-placeholder", "What looks like a placeholder stays as it is."),
  agent("621", "agent-never-set", "A slot is used, and nothing sets it."),
  agent("622", "agent-never-read", "A slot is filled, and nothing reads it."),
  agent("623", "agent-never-used", "What an extractor finds is never used."),
  agent("624", "agent-unknown-memory", "A memory names a step that is not there."),
  agent("625", "agent-environment", "The environment is named where it is not inserted."),
  agent("626", "agent-deprecated", "A key is deprecated."),
  agent("627", "agent-unreachable", "A step is never reached."),
  agent("628", "agent-endless-loop", "A loop neither waits for the user nor ends."),
  agent("629", "agent-combined-hold", "A step waits for the user while others are done beside it."),
  agent("630", "agent-combined-writes", "Two branches of a combined step write the same slot."),
  agent("631", "agent-not-equals", "A condition holds for a slot that may be missing."),
  agent("632", "agent-chain-condition", "A chain changes what its own condition asks for."),
  agent("633", "agent-no-memory", "A model does not see what the user has said."),
  agent("634", "agent-secret", "A secret seems to stand in an agent file."),
  agent("635", "agent-cut-value", "A comment cuts a value that is written without quotes."),
  agent("639", "agent-digits", "A number is taken as text, since it would lose digits."),
];

function agent(code: string, name: string, about: string): Rule {
  return { code, name, about, kind: "agent" };
}

/** What a problem is found in. */
export type CheckedKind =
  | "document"
  | "calls"
  | "prompt"
  | "settings"
  | "command"
  | "agent"
  | "collection"
  | "test";

/** A kind of problem, and what it is told by. */
interface Rule extends Omit<ProblemRule, "severity"> {
  readonly kind: CheckedKind;
  /** Absent: everything else. */
  readonly says?: RegExp;
}

/** The first that fits counts; the last of each kind takes the rest. */
const RULES: readonly Rule[] = [
  {
    code: "101",
    name: "document-syntax",
    about: "A line cannot be read as an operation, or as a part of one.",
    kind: "document",
    says:
      /^(unknown operation |nothing may follow |an empty line is needed |text directly under |"@|this \S+ is never closed|front matter (must|is not))/,
  },
  {
    code: "102",
    name: "unknown-parameter",
    about: "An operation or a front matter has no such key.",
    kind: "document",
    says: /( has no parameter |^unknown front matter key )/,
  },
  {
    code: "103",
    name: "unknown-block",
    about: "A reference leads to no block.",
    kind: "document",
    says: /^no block "/,
    hint: "orrery show document FILE lists the ids of all blocks",
  },
  {
    code: "104",
    name: "missing-file",
    about: "A file that a document names is not there.",
    kind: "document",
    says: /^file not found: /,
    hint: "Paths begin at the folder of the file that names them",
  },
  {
    code: "105",
    name: "cycle",
    about: "Documents import or run themselves, also by way of others.",
    kind: "document",
    says: /^(import|run) cycle: /,
    hint: "Move what both need to a third file; a run that is to end needs a condition",
  },
  {
    code: "106",
    name: "permission",
    about: "A document needs a permission that is not given, or that its own front matter does not allow.",
    kind: "document",
    says: /( permission|which the front matter of )/,
  },
  {
    code: "107",
    name: "unknown-model",
    about: "No model or provider has this name.",
    kind: "document",
    says:
      /^(unknown (model|provider) |no model is configured|provider "|the aliases of the model |the model )/,
    hint: "orrery list models shows what there is",
  },
  {
    code: "108",
    name: "unknown-tool",
    about: "No tool has this name.",
    kind: "document",
    says: /^unknown tool /,
    hint: "orrery list gadgets shows what there is",
  },
  {
    code: "109",
    name: "input",
    about: "A document is not given what it takes, or something that it does not take.",
    kind: "document",
    says: /(^input ".*" needs a value| has no input ")/,
  },
  {
    code: "110",
    name: "repeated-id",
    about: "Two blocks have the same id.",
    kind: "document",
    says: /^id ".*" is (already used|taken)/,
  },
  {
    code: "100",
    name: "document",
    about: "Something in a document is not as it has to be.",
    kind: "document",
  },
  {
    code: "201",
    name: "unknown-gadget",
    about: "A call names a gadget that is not in the catalogue.",
    kind: "calls",
    says: /^Unknown gadget /,
    hint: "orrery list gadgets shows what there is",
  },
  {
    code: "202",
    name: "missing-dependency",
    about: "A call waits for one that is never called.",
    kind: "calls",
    says: /, which is never called$/,
  },
  {
    code: "203",
    name: "call-cycle",
    about: "Calls wait for each other.",
    kind: "calls",
    says: /^".*" is on a cycle: /,
  },
  {
    code: "204",
    name: "arguments",
    about: "The arguments of a call do not fit the gadget.",
    kind: "calls",
    says: /^[A-Za-z_][\w-]* does not take this: /,
    hint: "orrery show gadget NAME shows what it takes",
  },
  { code: "200", name: "calls", about: "A call cannot be read or used.", kind: "calls" },
  {
    code: "300",
    name: "prompt",
    about: "A prompt, a tactic or a profile cannot be taken as it is.",
    kind: "prompt",
  },
  {
    code: "401",
    name: "not-accepted",
    about: "What a project says for itself counts for nothing until its user accepts it.",
    kind: "settings",
    says: /^you have not accepted what /,
    hint: "orrery list --trust-project accepts it, as --trust-project does with every run",
  },
  { code: "400", name: "settings", about: "Settings cannot be read.", kind: "settings" },
  ...AGENT_RULES,
  {
    code: "700",
    name: "collection",
    about: "A collection cannot be read, or a document of it.",
    kind: "collection",
  },
  { code: "800", name: "test", about: "A file of tests cannot be read.", kind: "test" },
  {
    code: "500",
    name: "command-line",
    about: "Something that the command line gives is wrong.",
    kind: "command",
  },
];

/** What a message is about. An error and a warning of one kind differ in the letter of their codes. */
export function ruleOf(
  kind: CheckedKind,
  { severity, message, code: known }: Pick<FoundProblem, "severity" | "message" | "code">,
): ProblemRule {
  const rule = known === undefined
    ? RULES.find((each) => each.kind === kind && (each.says?.test(message) ?? true))
    : RULES.find((each) => each.code === known.slice(1));
  const { code = "000", name = "problem", about = "Something is not as it has to be.", hint } = rule ?? {};
  return {
    code: `${severity === "error" ? "E" : "W"}${code}`,
    name,
    about,
    severity,
    hint,
  };
}
