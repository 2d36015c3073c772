import {
  type AnyGadget,
  type GadgetCall,
  type GadgetContext,
  type GadgetDescription,
  type Json,
  LATE_FORMAT,
  SENT,
  type SentContext,
  toJson,
} from "../../core/core.ts";
import { GadgetThrown } from "./failure.ts";
import type { GadgetHost } from "./host.ts";

/**
 * A gadget like any other, whose `run` and `format` happen in its host. What cannot be said in JSON does not reach it: `deps` and
 * `dialog` of the context, and an `idempotent` that is a function.
 */
export function sandboxedGadget(
  description: GadgetDescription,
  host: Pick<GadgetHost, "call" | "format">,
): AnyGadget {
  const { isLinked, hasFormat, isValidating: _isValidating, warnings: _warnings, ...said } = description;
  return {
    ...said,
    ...(isLinked && { run: (input: unknown, context: GadgetContext) => run(host, toJson(input), context) }),
    ...(hasFormat && lateFormat(host)),
  };
}

/** The context's own functions may need their context. */
async function run(host: Pick<GadgetHost, "call">, input: Json, context: SentContext) {
  const { signal, invocationId, dependencies, call } = context;
  const log = (text: string): void => context.log(text);
  try {
    return await host.call(input, {
      signal,
      invocationId,
      dependencies,
      call,
      log,
      progress: (done, total) => context.progress(done, total),
      onSent: context[SENT],
    });
  } catch (error) {
    // Where it was thrown is for whoever wrote the gadget; a model reads the message alone.
    if (error instanceof GadgetThrown && error.hasStack && !signal.aborted) {
      log(`${error.stack}\n`);
    }
    throw error;
  }
}

function lateFormat(host: Pick<GadgetHost, "format">) {
  return {
    format(_result: Json, call: GadgetCall): string {
      throw new Error(
        `The text of a result of "${call.gadgetName}" is asked for in its process, and comes later`,
      );
    },
    [LATE_FORMAT]: (result: Json, call: GadgetCall) => host.format(result, call),
  };
}
