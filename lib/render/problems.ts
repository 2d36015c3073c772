import type { Json } from "../core/core.ts";
import { printableLine } from "./shown_text.ts";

/** Something that `orrery check` found. */
export interface ToldProblem {
  /** As the format that tells it names files; empty for what is in no file, such as a flag. */
  readonly file: string;
  /** From 1. */
  readonly line: number;
  /** From 1, in UTF-16 units. */
  readonly column: number;
  readonly severity: "error" | "warning";
  /** One line. */
  readonly message: string;
  /** Stable, for scripts: `E104`. */
  readonly code: string;
  /** What to do about it; absent where the message says it. */
  readonly hint?: string;
}

/** `FILE:LINE:COLUMN: error: TEXT` (documents.md 1.3); without a file `error: TEXT`. */
export function problemText({ file, line, column, severity, message }: ToldProblem): string {
  const text = `${severity}: ${message}`;
  return file === "" ? text : `${file}:${line}:${column}: ${text}`;
}

/**
 * Problems as commands to a runner of GitHub Actions, a line each: they become annotations
 * (https://docs.github.com/actions/reference/workflow-commands-for-github-actions).
 */
export function problemsGithub(problems: readonly ToldProblem[]): string {
  return problems.map((problem) => `${commandOf(problem)}\n`).join("");
}

function commandOf({ file, line, column, severity, message }: ToldProblem): string {
  const place = file === "" ? "" : ` file=${property(file)},line=${line},col=${column}`;
  return `::${severity}${place}::${data(message)}`;
}

/** A message may hold anything but what ends it. */
function data(text: string): string {
  return printableLine(text).replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}

function property(text: string): string {
  return data(text).replaceAll(":", "%3A").replaceAll(",", "%2C");
}

/** A kind of problem, as the format describes it. */
export interface ProblemRule {
  readonly code: string;
  /** In one or several words, joined by dashes. */
  readonly name: string;
  /** One sentence. */
  readonly about: string;
  readonly severity: ToldProblem["severity"];
  /** What to do about it. */
  readonly hint?: string;
}

const SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json";

/** Where relative paths begin: the reader of the file knows the folder. */
const SOURCE_ROOT = "%SRCROOT%";

/** Problems as a log of SARIF 2.1.0 (https://docs.oasis-open.org/sarif/sarif/v2.1.0/). @param rules the kinds that occur, each once */
export function problemsSarif(
  problems: readonly ToldProblem[],
  { rules, version }: { readonly rules: readonly ProblemRule[]; readonly version: string },
): Json {
  const indexes = new Map(rules.map(({ code }, index) => [code, index]));
  return {
    $schema: SCHEMA,
    version: "2.1.0",
    runs: [{
      tool: { driver: { name: "orrery", version, rules: rules.map(ruleJson) } },
      columnKind: "utf16CodeUnits",
      results: problems.map((problem) => ({
        ruleId: problem.code,
        ruleIndex: indexes.get(problem.code) ?? -1,
        level: problem.severity,
        message: { text: problem.message },
        locations: problem.file === "" ? [] : [locationOf(problem)],
      })),
    }],
  };
}

function ruleJson({ code, name, about, severity, hint }: ProblemRule): Json {
  return {
    id: code,
    name,
    shortDescription: { text: about },
    defaultConfiguration: { level: severity },
    ...(hint === undefined ? {} : { help: { text: hint } }),
  };
}

function locationOf({ file, line, column }: ToldProblem): Json {
  return {
    physicalLocation: {
      artifactLocation: artifactOf(file),
      region: { startLine: line, startColumn: column },
    },
  };
}

function artifactOf(file: string): Json {
  const path = file.split("/").map(encodeURIComponent).join("/");
  if (file.startsWith("/")) return { uri: `file://${path}` };
  if (/^[A-Za-z]:\//.test(file)) return { uri: `file:///${path.replace("%3A", ":")}` };
  return { uri: path, uriBaseId: SOURCE_ROOT };
}
