import { chat } from "../run/dialog.ts";
import { type DialogInput, type DialogMeans, dialogOptions } from "../service/start/dialog.ts";
import type { Talk } from "./hold_talk.ts";
import type { ChatWork } from "./run_chat.ts";

/** A conversation with a model. */
export function modelTalk(
  input: DialogInput,
  means: Omit<DialogMeans, "signal" | "turn"> & Pick<ChatWork, "kept">,
  { stop }: Talk,
): Pick<ChatWork, "events" | "answers" | "kept"> {
  const options = dialogOptions(input, { ...means, signal: stop.signal, turn: () => stop.turn });
  return {
    kept: means.kept,
    answers: { hasTools: input.tools.length > 0, hasContract: false },
    events: (source) => chat(source, options),
  };
}
