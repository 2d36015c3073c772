import type { Json } from "../core/json.ts";
import type { ToldProblem } from "./told_problem.ts";

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
