import type { Journal } from "../core/journal.ts";
import type { Secrets } from "../core/secrets.ts";
import type { AgentFile } from "../parse/agent/agent.ts";
import type { ConversationHome } from "../run/live_conversation.ts";
import { containersOf } from "./containers.ts";
import { conversationAbout, type ConversationInput } from "./conversation_input.ts";
import type { OpenedAgent } from "./open_agent.ts";
import type { RunSurroundings } from "./ready_run.ts";

/** What a conversation of the command line is made of. */
export interface ConversationHomeOptions extends OpenedAgent {
  readonly agent: AgentFile;
  readonly input: ConversationInput;
  readonly journal: Journal;
  readonly secrets: Secrets;
  readonly around: Pick<RunSurroundings, "approvals">;
  readonly drain?: ConversationHome["drain"];
}

/** The same for the engine. */
export function conversationHome(
  { agent, input, journal, secrets, around: { approvals }, place, means, drain }: ConversationHomeOptions,
): Omit<ConversationHome, "signal"> {
  const { project, grants, accepted, catalog, world } = place;
  const { scope, context, given, model, budget, limits } = input;
  return {
    agent,
    means,
    journal,
    scope,
    context,
    given,
    about: conversationAbout(input),
    maxSteps: project.config.conversations.steps,
    clock: world.clock,
    secrets,
    containers: containersOf({
      place: () => ({ project, grants, accepted }),
      catalog,
      world,
      canAsk: approvals !== undefined,
      budget,
      limits,
      modelName: model,
    }),
    approvals,
    drain,
  };
}
