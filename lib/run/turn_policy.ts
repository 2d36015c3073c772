/** What a kind of file makes of the one turn (turn.md 2). Kinds differ here and nowhere in the loop. */
export interface TurnPolicy {
  /** How a model is told of its tools and calls them: in its text, or by the provider's own calls. */
  readonly toolsMode: "blocks" | "native";
  /** `mid-stream`: a call starts while the model still answers. */
  readonly startCalls: "mid-stream" | "after-reply";
  /** How many calls run at once. */
  readonly parallel: number;
  /** How many answers may call tools; the one after them gets `lastNotice` and no tools. */
  readonly rounds: number;
  readonly lastNotice: string;
  /** How often an answer that breaks the output contract goes back to the model. */
  readonly contractRetries: number;
  /** How often a call of the model is tried again when it fails for a while. */
  readonly transportRetries: number;
}

/** `orrery ask`, `orrery chat`, and calls that a model writes. */
export const ASK_POLICY: TurnPolicy = {
  toolsMode: "blocks",
  startCalls: "mid-stream",
  parallel: 16,
  rounds: 10,
  lastNotice: "No more gadgets can be called. Give your final answer now, from what you know.",
  contractRetries: 3,
  transportRetries: 3,
};

/** The steps of a conversation that ask a model (conversations.md 2.7). */
export const CONVERSATION_POLICY: TurnPolicy = {
  toolsMode: "native",
  startCalls: "after-reply",
  parallel: 8,
  rounds: 5,
  lastNotice: "No more tools can be called. Give your final answer now, from what you know.",
  contractRetries: 1,
  transportRetries: 1,
};
