/** What an effect is. */
export type StepKind = "model" | "gadget" | "shell" | "http" | "read" | "write" | "ask" | "source" | "step";

/** Why a step ended badly; `code` and `flag` as in events. */
export interface StepError {
  readonly message: string;
  readonly code?: string;
  readonly flag?: string;
}
