import { isJsonObject, toJson } from "../core/json.ts";
import type { Json } from "../core/json.ts";
import { MERGE_MODES } from "../parse/parameter_reader.ts";
import type { MergeMode } from "../parse/operation_fields.ts";
import { DOCUMENT_LIMITS } from "../catalog/config.ts";
import type { Budget } from "../run/budget.ts";
import type { CallLimits } from "../run/call_graph.ts";
import type { DocumentMeans } from "../run/document_means.ts";
import { budgetFrom } from "./dialog_input.ts";
import { limitsFrom } from "./kept_limits.ts";

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

/** What a run has kept. */
export function documentRunInput(kept: Json): DocumentRunInput {
  const input = isJsonObject(kept) ? kept : {};
  const { path, prompt, text, values, model, out, showsOperations } = input;
  const mode = MERGE_MODES.find((each) => each === input.mode);
  const given = values !== undefined && isJsonObject(values) ? values : {};
  return {
    path: String(path),
    text: typeof text === "string" ? text : "",
    values: Object.fromEntries(Object.entries(given).map(([name, value]) => [name, String(value)])),
    showsOperations: showsOperations === true,
    budget: budgetFrom(input.budget),
    limits: limitsFrom(input.limits),
    defaults: defaultsFrom(input.defaults),
    ...(typeof prompt === "string" && { prompt }),
    ...(typeof model === "string" && { model }),
    ...(typeof out === "string" && { out }),
    mode,
  };
}

function defaultsFrom(kept: Json | undefined): DocumentMeans["defaults"] {
  const { temperature, limits } = kept !== undefined && isJsonObject(kept) ? kept : {};
  const { goto, toolTurns, shellTimeoutS } = limits !== undefined && isJsonObject(limits) ? limits : {};
  return {
    limits: {
      goto: typeof goto === "number" ? goto : DOCUMENT_LIMITS.goto,
      toolTurns: typeof toolTurns === "number" ? toolTurns : DOCUMENT_LIMITS.toolTurns,
      shellTimeoutS: typeof shellTimeoutS === "number" ? shellTimeoutS : DOCUMENT_LIMITS.shellTimeoutS,
    },
    ...(typeof temperature === "number" && { temperature }),
  };
}
