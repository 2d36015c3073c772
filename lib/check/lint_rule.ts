import type { FilePath } from "../parse/shape/shape.ts";
import type { AgentCode } from "../parse/agent_problem.ts";
import type { AgentLook } from "./agent_look.ts";

/** Something that is likely not meant. */
export interface LintFinding {
  readonly path: FilePath;
  /** Where to look. Default: at the value. */
  readonly at?: "value" | "key";
  readonly code: AgentCode;
  readonly message: string;
  readonly hint?: string;
}

/** Looks for one kind of thing that is likely not meant. */
export type LintRule = (look: AgentLook) => readonly LintFinding[];
