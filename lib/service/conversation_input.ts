// What a conversation is made of besides its agent: kept with its run, so that whoever goes on with it has the same.

import type { ConversationScope } from "../conversation/slots.ts";
import { isJsonObject, toJson } from "../core/json.ts";
import type { Json, JsonObject } from "../core/json.ts";
import type { Budget } from "../run/budget.ts";
import type { CallLimits } from "../run/call_graph.ts";
import { budgetFrom } from "./dialog_input.ts";
import { limitsFrom } from "./kept_limits.ts";

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
  const json = toJson(about);
  return isJsonObject(json) ? json : {};
}

/** What a run has kept. */
export function conversationInput(kept: Json): ConversationInput {
  const input = objectOf(kept);
  const { user, module, session, model, collection, moduleFile, moduleSession } = input;
  return {
    scope: { user: String(user), module: String(module), session: String(session) },
    context: objectOf(input.context),
    given: objectOf(input.given),
    budget: budgetFrom(input.budget),
    limits: limitsFrom(input.limits),
    ...(typeof model === "string" && { model }),
    ...(typeof collection === "string" && { collection }),
    ...(typeof moduleFile === "string" && { moduleFile }),
    ...(typeof moduleSession === "string" && { moduleSession }),
    ...(input.canAsk === true && { canAsk: true }),
  };
}

function objectOf(value: Json | undefined): JsonObject {
  return value !== undefined && isJsonObject(value) ? value : {};
}
