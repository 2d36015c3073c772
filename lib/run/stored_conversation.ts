// A conversation in its store: taken over for a turn, looked at, and the agent files that are kept with it.

import type { ConversationScope } from "../conversation/slots.ts";
import { RunEndedError, RunNotFoundError, RunOwnedError } from "../core/journal.ts";
import type { ConversationRecord, Journal, RunJournal, RunStart } from "../core/journal.ts";
import { isJsonObject } from "../core/json.ts";
import { messageOf } from "../core/source_error.ts";
import type { AgentFile } from "../parse/agent_file.ts";
import { readAgentFile } from "../parse/read_agent_file.ts";
import { busyError, ConversationError, endedError } from "./conversation_error.ts";

/** Takes it over for a turn. @throws {ConversationError} `busy`, `ended`, `gone` */
export function openStored(journal: Journal, id: string): RunJournal {
  try {
    return journal.open(id);
  } catch (error) {
    if (error instanceof RunOwnedError) throw busyError(error);
    if (error instanceof RunEndedError) throw endedError(error);
    throw error instanceof RunNotFoundError ? goneError(error) : error;
  }
}

/** Gives it back as it was. */
export function leaveStored(opened: RunJournal): void {
  opened.release(opened.resumedFrom === "held" ? "held" : "stopped");
}

/** Looks at it. @throws {ConversationError} `gone`, also for a run that is no conversation */
export function readStored(journal: Journal, id: string): Omit<ConversationRecord, "messages"> {
  try {
    const record = journal.conversation(id, { last: 0 });
    const { kind } = record.summary;
    if (kind === "conversation") return record;
    throw new ConversationError(`Run "${id}" is no conversation: it is of the kind "${kind}"`, "gone");
  } catch (error) {
    throw error instanceof RunNotFoundError ? goneError(error) : error;
  }
}

/** Whose slots it has had from its beginning; undefined when that was not kept. */
export function storedScope({ input }: Pick<RunStart, "input">): ConversationScope | undefined {
  const { user, module, session } = isJsonObject(input) ? input : {};
  const isKept = typeof user === "string" && typeof module === "string" && typeof session === "string";
  return isKept ? { user, module, session } : undefined;
}

/** Keeps an agent file with it, unless it has it. */
export function keepAgent(opened: RunJournal, { file, hash, text }: AgentFile): void {
  const isKept = opened.run.files?.some((stored) => stored.text === text) ?? false;
  if (!isKept) opened.file({ path: `${file}@${hash}`, text });
}

/** The agent file that began a turn, as it was then. @throws {Error} when it is not with the conversation */
export async function storedAgent(
  { run, id }: RunJournal,
  { file, hash }: Pick<AgentFile, "file" | "hash">,
): Promise<AgentFile> {
  for (const { text } of run.files ?? []) {
    const { agent } = await readAgentFile(text, { file });
    if (agent?.hash === hash) return agent;
  }
  throw new Error(
    `The file of the agent with which this turn began is not with conversation "${id}" any more`,
  );
}

function goneError(error: unknown): ConversationError {
  return new ConversationError(messageOf(error), "gone", { cause: error });
}
