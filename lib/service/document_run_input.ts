import { DOCUMENT_LIMITS } from "../catalog/config/config.ts";
import { type Json, toJson } from "../core/json.ts";
import type { MergeMode } from "../parse/document/operation.ts";
import { MERGE_MODES } from "../parse/document/parameters.ts";
import { limitsOf, type ProjectSettings } from "../project/project.ts";
import type { Budget } from "../run/budget.ts";
import type { CallLimits } from "../run/call_graph.ts";
import type { DocumentMeans } from "../run/document_means.ts";
import { budgetFrom, limitsFrom, numberFrom, objectFrom, textFrom } from "./kept_input.ts";

/** What a run of a document is made of: kept with the run, so that a resumed one is the same. */
export interface DocumentRunInput {
  /** Relative to the project root where it lies inside. */
  readonly path: string;
  readonly prompt?: string;
  /** Blocks of other files, as text. */
  readonly text: string;
  readonly values: Readonly<Record<string, string>>;
  /** As it was named. */
  readonly model?: string;
  readonly mode?: MergeMode;
  /** A path, `-` or `none`; absent: beside the document. */
  readonly out?: string;
  readonly showsOperations: boolean;
  readonly budget: Budget;
  readonly limits: CallLimits;
  /** What the configuration said when the run began. */
  readonly defaults: DocumentMeans["defaults"];
}

/** Values of documents are text. */
export function textsOf(values: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      typeof value === "string" ? value : JSON.stringify(value),
    ]),
  );
}

/** As a run keeps it. */
export function documentRunJson(input: DocumentRunInput): Json {
  return toJson(input);
}

/** What the project says of its documents, and the flags of a run. */
export function settingsInput(
  project: Pick<ProjectSettings, "config">,
  flags: { readonly concurrency?: number; readonly timeout?: number },
): Pick<DocumentRunInput, "text" | "showsOperations" | "limits" | "defaults"> {
  const { showsOperations, limits, temperature } = project.config.documents;
  const { timeoutMs, resultBytes } = limitsOf(project, flags);
  return { text: "", showsOperations, limits: { timeoutMs, resultBytes }, defaults: { limits, temperature } };
}

/** What a run has kept. */
export function documentRunInput(kept: Json): DocumentRunInput {
  const input = objectFrom(kept);
  const defaults = objectFrom(input.defaults);
  const limits = objectFrom(defaults.limits);
  const values = Object.entries(objectFrom(input.values)).map(([name, value]) => [name, String(value)]);
  return {
    path: String(input.path),
    prompt: textFrom(input.prompt),
    text: textFrom(input.text) ?? "",
    values: Object.fromEntries(values),
    model: textFrom(input.model),
    mode: MERGE_MODES.find((each) => each === input.mode),
    out: textFrom(input.out),
    showsOperations: input.showsOperations === true,
    budget: budgetFrom(input.budget),
    limits: limitsFrom(input.limits),
    defaults: {
      limits: {
        goto: numberFrom(limits.goto) ?? DOCUMENT_LIMITS.goto,
        toolTurns: numberFrom(limits.toolTurns) ?? DOCUMENT_LIMITS.toolTurns,
        shellTimeoutS: numberFrom(limits.shellTimeoutS) ?? DOCUMENT_LIMITS.shellTimeoutS,
      },
      temperature: numberFrom(defaults.temperature),
    },
  };
}
