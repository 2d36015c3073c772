// What a conversation is made of besides its agent: kept with its run, so that whoever goes on with it has the same.

import type { ConversationScope } from "../conversation/slots.ts";
import { toJson } from "../core/json.ts";
import type { Json, JsonObject } from "../core/json.ts";
import type { Budget } from "../run/budget.ts";
import type { CallLimits } from "../run/call_graph.ts";
import { budgetFrom, limitsFrom, objectFrom, textFrom } from "./kept_input.ts";

/** What the command line says of a conversation. */
export interface ConversationInput {
  readonly scope: ConversationScope;
  /** What its preloaded slots come from. */
  readonly context: JsonObject;
  /** Slots that are set before its first step, by `destination.name`. */
  readonly given: JsonObject;
  /** For the steps that name none. */
  readonly model?: string;
  /** A `*.collection.yml` file: absolute. */
  readonly collection?: string;
  /** A `*.module.yml` file: absolute. */
  readonly moduleFile?: string;
  /** A session of that file. */
  readonly moduleSession?: string;
  /** Somebody is asked about what is not granted, where nobody sits at a terminal. Default false. */
  readonly canAsk?: boolean;
  readonly budget: Budget;
  readonly limits: CallLimits;
}

/** As a run keeps it; whose slots it has is kept by the conversation itself. */
export function conversationAbout({ scope: _scope, ...about }: ConversationInput): JsonObject {
  return objectFrom(toJson(about));
}

/** What a run has kept. */
export function conversationInput(kept: Json): ConversationInput {
  const input = objectFrom(kept);
  return {
    scope: { user: String(input.user), module: String(input.module), session: String(input.session) },
    context: objectFrom(input.context),
    given: objectFrom(input.given),
    budget: budgetFrom(input.budget),
    limits: limitsFrom(input.limits),
    model: textFrom(input.model),
    collection: textFrom(input.collection),
    moduleFile: textFrom(input.moduleFile),
    moduleSession: textFrom(input.moduleSession),
    canAsk: input.canAsk === true ? true : undefined,
  };
}
