import { resolve } from "node:path";
import { byPlace, ProblemsError, SourceError } from "../../core/core.ts";
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

/** What a problem is found in. */
export type CheckedKind = keyof typeof FIRST_DIGITS;

/** What the codes of each kind of problem begin with. */
const FIRST_DIGITS = {
  document: "1",
  calls: "2",
  prompt: "3",
  settings: "4",
  command: "5",
  agent: "6",
  collection: "7",
  test: "8",
} as const;

/** A kind of problem, and what it is told by. */
interface Rule extends Omit<ProblemRule, "severity"> {
  /** Absent: everything else. */
  readonly says?: RegExp;
}

function rule(code: string, name: string, about: string, more: Pick<Rule, "says" | "hint"> = {}): Rule {
  return { code, name, about, ...more };
}

/** The first that fits counts; the last of each kind takes the rest. */
const RULES: readonly Rule[] = [
  rule("101", "document-syntax", "A line cannot be read as an operation, or as a part of one.", {
    says:
      /^(unknown operation |nothing may follow |an empty line is needed |text directly under |"@|this \S+ is never closed|front matter (must|is not))/,
  }),
  rule("102", "unknown-parameter", "An operation or a front matter has no such key.", {
    says: /( has no parameter |^unknown front matter key )/,
  }),
  rule("103", "unknown-block", "A reference leads to no block.", {
    says: /^no block "/,
    hint: "orrery show document FILE lists the ids of all blocks",
  }),
  rule("104", "missing-file", "A file that a document names is not there.", {
    says: /^file not found: /,
    hint: "Paths begin at the folder of the file that names them",
  }),
  rule("105", "cycle", "Documents import or run themselves, also by way of others.", {
    says: /^(import|run) cycle: /,
    hint: "Move what both need to a third file; a run that is to end needs a condition",
  }),
  rule(
    "106",
    "permission",
    "A document needs a permission that is not given, or that its own front matter does not allow.",
    { says: /( permission|which the front matter of )/ },
  ),
  rule("107", "unknown-model", "No model or provider has this name.", {
    says:
      /^(unknown (model|provider) |no model is configured|provider "|the aliases of the model |the model )/,
    hint: "orrery list models shows what there is",
  }),
  rule("108", "unknown-tool", "No tool has this name.", {
    says: /^unknown tool /,
    hint: "orrery list gadgets shows what there is",
  }),
  rule("109", "input", "A document is not given what it takes, or something that it does not take.", {
    says: /(^input ".*" needs a value| has no input ")/,
  }),
  rule("110", "repeated-id", "Two blocks have the same id.", { says: /^id ".*" is (already used|taken)/ }),
  rule("100", "document", "Something in a document is not as it has to be."),
  rule("201", "unknown-gadget", "A call names a gadget that is not in the catalogue.", {
    says: /^Unknown gadget /,
    hint: "orrery list gadgets shows what there is",
  }),
  rule("202", "missing-dependency", "A call waits for one that is never called.", {
    says: /, which is never called$/,
  }),
  rule("203", "call-cycle", "Calls wait for each other.", { says: /^".*" is on a cycle: / }),
  rule("204", "arguments", "The arguments of a call do not fit the gadget.", {
    says: /^[A-Za-z_][\w-]* does not take this: /,
    hint: "orrery show gadget NAME shows what it takes",
  }),
  rule("200", "calls", "A call cannot be read or used."),
  rule("300", "prompt", "A prompt, a tactic or a profile cannot be taken as it is."),
  rule(
    "401",
    "not-accepted",
    "What a project says for itself counts for nothing until its user accepts it.",
    {
      says: /^you have not accepted what /,
      hint: "orrery list --trust-project accepts it, as --trust-project does with every run",
    },
  ),
  rule("400", "settings", "Settings cannot be read."),
  // Of agent files (conversations.md 2.12, 2.13): codes from 620 on are of what is likely not meant.
  rule("600", "agent", "A value in an agent file is not what it has to be."),
  rule("601", "agent-yaml", "An agent file is no YAML, or not one document."),
  rule("602", "agent-unknown-key", "A mapping of an agent file has no such key."),
  rule("603", "agent-missing-key", "A mapping of an agent file lacks a key."),
  rule("604", "agent-repeated-id", "Two steps have the same id."),
  rule(
    "605",
    "agent-reference",
    "A jump or a prompt names something that is not there, or cannot be used so.",
  ),
  rule(
    "606",
    "agent-unquoted-template",
    "A placeholder stands without quotes: YAML takes it for a mapping.",
  ),
  rule("607", "agent-json-path", "A JSONPath cannot be read."),
  rule("620", "agent-placeholder", "What looks like a placeholder stays as it is."),
  rule("621", "agent-never-set", "A slot is used, and nothing sets it."),
  rule("622", "agent-never-read", "A slot is filled, and nothing reads it."),
  rule("623", "agent-never-used", "What an extractor finds is never used."),
  rule("624", "agent-unknown-memory", "A memory names a step that is not there."),
  rule("625", "agent-environment", "The environment is named where it is not inserted."),
  rule("626", "agent-deprecated", "A key is deprecated."),
  rule("627", "agent-unreachable", "A step is never reached."),
  rule("628", "agent-endless-loop", "A loop neither waits for the user nor ends."),
  rule("629", "agent-combined-hold", "A step waits for the user while others are done beside it."),
  rule("630", "agent-combined-writes", "Two branches of a combined step write the same slot."),
  rule("631", "agent-not-equals", "A condition holds for a slot that may be missing."),
  rule("632", "agent-chain-condition", "A chain changes what its own condition asks for."),
  rule("633", "agent-no-memory", "A model does not see what the user has said."),
  rule("634", "agent-secret", "A secret seems to stand in an agent file."),
  rule("635", "agent-cut-value", "A comment cuts a value that is written without quotes."),
  rule("639", "agent-digits", "A number is taken as text, since it would lose digits."),
  rule("700", "collection", "A collection cannot be read, or a document of it."),
  rule("800", "test", "A file of tests cannot be read."),
  rule("500", "command-line", "Something that the command line gives is wrong."),
];

/** What a message is about. An error and a warning of one kind differ in the letter of their codes. */
export function ruleOf(
  kind: CheckedKind,
  { severity, message, code: known }: Pick<FoundProblem, "severity" | "message" | "code">,
): ProblemRule {
  const found = known === undefined
    ? RULES.find((each) => each.code.startsWith(FIRST_DIGITS[kind]) && (each.says?.test(message) ?? true))
    : RULES.find((each) => each.code === known.slice(1));
  const { code = "000", name = "problem", about = "Something is not as it has to be.", hint } = found ?? {};
  return {
    code: `${severity === "error" ? "E" : "W"}${code}`,
    name,
    about,
    severity,
    hint,
  };
}
