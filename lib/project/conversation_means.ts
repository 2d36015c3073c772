// What a conversation works with in a project of this machine, with what the flags of a command grant it.
import type { Catalog, Collection, World } from "../core/core.ts";
import { hostEnv } from "../host/process.ts";
import type { Budget } from "../run/budget.ts";
import type { CallLimits } from "../run/calls/graph.ts";
import { type ConversationMeans, conversationSubRuns } from "../run/conversation/work.ts";
import { readyTools } from "./document/place.ts";
import { conversationModels } from "./models.ts";
import type { ProjectSettings } from "./project.ts";
import type { RunGrants } from "./trust/grants.ts";

/** A project that a conversation is held in. */
export interface ConversationPlace {
  readonly project: ProjectSettings;
  readonly grants: RunGrants;
  readonly catalog: Catalog;
  readonly world: World;
  /** Whether what the project says for itself counts. */
  readonly accepted: boolean;
}

/** What is said of a conversation besides. */
export interface ConversationWishes {
  /** For the steps that name none. */
  readonly model?: string;
  readonly budget: Budget;
  readonly limits: CallLimits;
  /** What retrievers look in. */
  readonly collection?: Collection;
}

/** What its steps work with. */
export function conversationMeans(
  { project, grants: { settings }, catalog, world, accepted: isAccepted }: ConversationPlace,
  { model, budget, limits: { timeoutMs, resultBytes }, collection }: ConversationWishes,
): ConversationMeans {
  const { timeoutMs: stepMs } = project.config.conversations;
  return {
    models: conversationModels({ ...project, isAccepted, settings, model }),
    http: world.http,
    tools: readyTools(() => Promise.resolve(catalog)),
    budget,
    calls: {
      timeoutMs,
      resultBytes,
    },
    env: grantedEnv(world),
    ...conversationSubRuns,
    timeoutMs: stepMs,
    collection,
  };
}

/** Variables of the environment that were granted. @throws {PermissionRefused}; {Error} for one that is not set */
function grantedEnv({ policy }: Pick<World, "policy">): ConversationMeans["env"] {
  return async (name) => {
    await policy.permit({ kind: "env", value: name });
    return setVariable(name);
  };
}

/** @throws {Error} */
export function setVariable(name: string): string {
  const value = hostEnv(name);
  if (value === undefined) {
    throw new Error(`the environment variable "${name}" is not set, or may not be read`);
  }
  return value;
}
