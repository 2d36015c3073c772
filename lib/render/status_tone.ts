/** What a state means to whoever looks, as style sheets have a colour for it. */
export type Tone = "good" | "bad" | "busy" | "wait";

/** The tone of how a run, a call or a step stands. */
export function statusTone(status: string): Tone {
  return TONES.get(status) ?? "wait";
}

const TONES: ReadonlyMap<string, Tone> = new Map([
  ["done", "good"],
  ["completed", "good"],
  ["result", "good"],
  ["running", "busy"],
  ["failed", "bad"],
  ["error", "bad"],
]);
