import type { StepFlow } from "../parse/agent/agent.ts";

/** Where it goes on behind a leaf that has done what it does. `hold` waits for the person first. */
export type StepOutcome = { readonly kind: "next"; readonly isHeld?: boolean } | {
  readonly kind: "flow";
  readonly flow: StepFlow;
};
