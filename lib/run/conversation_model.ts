import { ModelError } from "../core/model.ts";
import type { Model } from "../core/model.ts";
import { PermissionRefused } from "../core/world.ts";
import type { ModelFields, StepBase } from "../parse/agent_file.ts";
import { ConversationStepError } from "./conversation_work.ts";
import type { AskedModel, StepWork } from "./conversation_work.ts";
import { EnvText } from "./env_text.ts";
import { EnvValues } from "./env_values.ts";
import { hiddenError, hiddenModel } from "./hidden_model.ts";
import { modelWithErrors } from "./model_with_errors.ts";
import { modelWithin } from "./model_within.ts";
import { notedModel } from "./noted_model.ts";
import { orAborted } from "./or_aborted.ts";

type Work = StepWork<StepBase & Pick<ModelFields, "model">>;

/** Of a whole answer, in ms (conversations.md 2.7). */
const TIMEOUT_MS = 60_000;

/** The model of a step, or the configured default. @throws {ConversationStepError} when there is none */
export async function modelOfStep(work: Work, asked: AskedModel): Promise<Model> {
  const { run, means, step, key, signal } = work;
  try {
    const noted = notedModel(run, { key: `${key}/finds-model`, find: () => find(work, asked) });
    const model = await orAborted(noted, signal);
    return modelWithin(modelWithErrors(model), { ms: means.timeoutMs ?? TIMEOUT_MS, clock: run.clock });
  } catch (error) {
    if (!(error instanceof ModelError)) throw error;
    throw new ConversationStepError(step.id, error.message, { cause: error });
  }
}

/** @throws {ModelError} `config` */
async function find({ step, means }: Work, asked: AskedModel): Promise<Model> {
  if (step.model === undefined) {
    return known(
      await means.models.find(undefined, asked),
      `no model set; add "model" or configure a default`,
    );
  }
  const written = new EnvText(step.model, (text) => text);
  const values = await EnvValues.read(written.names, (name) => means.env(name)).catch(refused);
  const hide = (told: string): string => values.hiddenIn(told).message;
  const name = written.with(values);
  try {
    const model = known(await means.models.find(name, asked), `there is no model "${name}"`);
    return written.names.length === 0 ? model : hiddenModel(model, { id: written.shown, hide });
  } catch (error) {
    throw written.names.length === 0 ? error : hiddenError(error, hide);
  }
}

/** A refusal stays one, with the flag that would allow it. @throws */
function refused(error: unknown): never {
  if (!(error instanceof PermissionRefused)) throw error;
  throw new ModelError(error.message, { code: "permission", flag: error.flag, cause: error });
}

function known(model: Model | undefined, problem: string): Model {
  if (model === undefined) throw new ModelError(problem, { code: "config" });
  return model;
}
