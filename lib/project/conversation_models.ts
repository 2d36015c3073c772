import { acceptedConfig } from "../catalog/config/config.ts";
import type { ConversationModels } from "../run/conversation_work.ts";
import { modelsByName } from "./models_by_name.ts";
import type { OpenProjectModelsOptions } from "./open_models.ts";
import { wantedModel } from "./project.ts";

/** Which models there are, and which one is asked where a step names none. */
export interface ConversationModelsOptions extends Omit<OpenProjectModelsOptions, "name"> {
  /** Of the command line. Default: that of the variable, then of the settings. */
  readonly model?: string;
}

/** The models of a project for the steps of a conversation. */
export function conversationModels({ model, ...options }: ConversationModelsOptions): ConversationModels {
  const find = modelsByName(options);
  const { config, isAccepted } = options;
  const hasDefault = (isAccepted ? acceptedConfig(config) : config).models.default !== undefined;
  return {
    async find(name) {
      const wanted = wantedModel(name ?? model);
      return wanted === undefined && !hasDefault ? undefined : await find(wanted);
    },
  };
}
