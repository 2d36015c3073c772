// What `run` and `chat` have in common: everything is looked at before the first step, and nothing is kept of what is refused.
import type { Journal } from "../core/journal.ts";
import type { Secrets } from "../core/secrets.ts";
import { memoryJournal } from "../journal/memory_journal.ts";
import { newRunId } from "../journal/new_run.ts";
import type { AgentFile } from "../parse/agent/agent.ts";
import { openJournal } from "../project/open_journal.ts";
import { dropGrants, keepGrants } from "../project/run_grants.ts";
import { runSecrets } from "../project/run_secrets.ts";
import { conversationHome } from "./conversation_home.ts";
import { ConversationSession } from "./conversation_session.ts";
import { openAgent, type OpenAgentOptions, type RefusedAgent } from "./open_agent.ts";
import type { RunSurroundings } from "./ready_run.ts";

/** A conversation that is to begin. */
export type BeginConversationOptions = Omit<OpenAgentOptions, "isNew">;

/** A conversation that can begin. */
export interface BegunConversation {
  readonly agent: AgentFile;
  readonly session: ConversationSession;
  /** It can be gone on with. */
  readonly isKept: boolean;
  /** Puts away what it is held with, when the conversation has come to its end or not. */
  close(isCompleted: boolean): void;
}

/** Opens all that a new conversation needs; or gives what is missing. */
export async function beginConversation(
  options: BeginConversationOptions,
): Promise<BegunConversation | RefusedAgent> {
  const { agent, project, grants, isEphemeral } = options;
  const opened = await openAgent({ ...options, isNew: true });
  if (!("means" in opened)) return opened;
  const secrets = secretsOf(options);
  const journal = isEphemeral ? memoryJournal({ secrets }) : openJournal(project.root, { secrets });
  const keep = async (id: string) => isEphemeral ? undefined : await keepGrants(id, grants, project);
  const home = conversationHome({ ...options, ...opened, journal, secrets });
  const id = newRunId(Date.now());
  await keep(id);
  const session = new ConversationSession({ home, id, isNew: true, keepGrants: keep });
  return { agent, session, isKept: !isEphemeral, close: closing(journal, session) };
}

/** Also of the servers that were started. */
function secretsOf({ project: { config }, grants: { settings }, around }: {
  readonly project: OpenAgentOptions["project"];
  readonly grants: OpenAgentOptions["grants"];
  readonly around: RunSurroundings;
}): Secrets {
  const secrets = runSecrets({ config, settings });
  for (const { name, value } of around.found) secrets.add(name, value);
  return secrets;
}

/** What it was allowed is forgotten with its end. */
export function closing(journal: Journal, session: ConversationSession): BegunConversation["close"] {
  return (isCompleted) => {
    journal[Symbol.dispose]();
    if (isCompleted) dropGrants(session.live.id);
  };
}
