// What a conversation runs inside of itself (conversations.md 3): a document, or a prompt. Its steps are steps of the conversation's run.

import { isJsonObject } from "../core/json.ts";
import type { Json, JsonObject } from "../core/json.ts";
import type { Containers } from "./container.ts";
import type { ConversationMeans } from "./conversation_work.ts";
import type { Run } from "./run.ts";

/** Runs them by what the run can contain. */
export const conversationSubRuns: Pick<ConversationMeans, "runFile" | "askPrompt"> = {
  async runFile(file, { input, run, keyPrefix, signal }) {
    const containers = await containersOf(run);
    if (!/\.md$/i.test(file)) {
      const parameters = { path: file, args: input !== undefined && isJsonObject(input) ? input : {} };
      return await needed(containers.prompt)({ run, keyPrefix, signal, parameters });
    }
    return await needed(containers.document)({
      run,
      keyPrefix,
      signal,
      parameters: { file, ...documentInput(input) },
    });
  },
  async askPrompt(path, { args, work: { run, key, signal } }) {
    const { prompt } = await containersOf(run);
    return await needed(prompt)({ run, keyPrefix: `${key}/`, signal, parameters: { path, args } });
  },
};

/** A mapping gives a document its inputs, anything else is its prompt. */
function documentInput(input: Json | undefined): JsonObject {
  if (input === undefined || input === null) return {};
  return isJsonObject(input)
    ? { inputs: input }
    : { prompt: typeof input === "string" ? input : JSON.stringify(input) };
}

async function containersOf(run: Run): Promise<Containers> {
  return await run.containers ?? {};
}

function needed<Contained>(contained: Contained | undefined): Contained {
  if (contained === undefined) {
    throw new Error("nothing can be run inside of this conversation: use `orrery run` or `orrery chat`");
  }
  return contained;
}
