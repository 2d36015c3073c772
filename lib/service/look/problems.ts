import { pathFromFolder, type Problem } from "../../core/core.ts";
import type { ToldProblem } from "../../render/problems.ts";
import { type CheckedKind, type ReportedProblem, ruleOf } from "../check/report.ts";
import type { ProblemJson } from "./look.ts";

/** What a check found, as it is told. @param folder that files are named from */
export function toldProblem(folder: string, { found, rule }: ReportedProblem): ToldProblem & ProblemJson {
  const { path, line, column, severity, message, hint = rule.hint } = found;
  const isSaid = hint === undefined || /did you mean/i.test(message);
  return {
    file: pathFromFolder(path, folder),
    line,
    column,
    severity,
    code: rule.code,
    message,
    ...(isSaid ? {} : { hint }),
  };
}

interface PlacedProblem extends Pick<ProblemJson, "severity" | "line" | "column" | "message"> {
  readonly hint?: string;
}

/** A problem of a document. @param file relative to the root */
export function documentProblem(problem: PlacedProblem, file: string): ProblemJson {
  return placed(problem, { file, kind: "document" });
}

/** The same of a call. */
export function callProblem(
  message: string,
  { file, line }: { readonly file: string; readonly line: number },
): ProblemJson {
  return placed({ severity: "error", line, column: 1, message }, { file, kind: "calls" });
}

/** The same of an agent file. */
export function agentProblem(problem: PlacedProblem, file: string): ProblemJson {
  return placed(problem, { file, kind: "agent" });
}

/** The same of a prompt, a tactic or a profile. @param severity of what was only not loaded it is a warning */
export function promptProblem(
  { file, line, column = 1, message }: Problem,
  severity: ProblemJson["severity"] = "error",
): ProblemJson {
  return placed({ severity, line, column, message }, { file, kind: "prompt" });
}

function placed(
  { severity, line, column, message, hint }: PlacedProblem,
  { file, kind }: { readonly file: string; readonly kind: CheckedKind },
): ProblemJson {
  const rule = ruleOf(kind, { severity, message });
  const advice = hint ?? rule.hint;
  return {
    code: rule.code,
    severity,
    message,
    file,
    line,
    column,
    hint: advice,
  };
}
