import { isPromise } from "../core/async.ts";
import type { AnyGadget, GadgetCall } from "../core/gadget.ts";
import { isJsonObject } from "../core/json.ts";
import type { Json } from "../core/json.ts";
import { hasLateFormat, LATE_FORMAT } from "../core/late_format.ts";
import { messageOf } from "../core/source_error.ts";
import { shown } from "../schema/issue.ts";
import type { Run } from "./run.ts";

/** What a model reads of a result, or why its gadget could not say it. */
export type ToldResult = { readonly text: string } | { readonly error: string };

/** What a gadget's own `format` makes of a result. A record keeps it, since a replay has no gadget to ask. */
export async function toldResult(
  run: Run,
  { key, gadget, call, result }: {
    readonly key: string;
    readonly gadget: AnyGadget;
    readonly call: GadgetCall;
    readonly result: Json;
  },
): Promise<ToldResult> {
  return await run.lookUp(key, () => told(gadget, result, call), {
    note: (result): Json => ({ ...result }),
    from: fromNote,
  });
}

async function told(gadget: AnyGadget, result: Json, call: GadgetCall): Promise<ToldResult> {
  try {
    const text = hasLateFormat(gadget)
      ? await gadget[LATE_FORMAT](result, call)
      : formatted(gadget, result, call);
    return { text };
  } catch (error) {
    return { error: messageOf(error) };
  }
}

/** @throws what the gadget's `format` throws */
function formatted(gadget: AnyGadget, result: Json, call: GadgetCall): string {
  const text: unknown = gadget.format?.(result, call);
  if (typeof text === "string") return text;
  if (isPromise(text)) text.catch(() => undefined); // nobody waits for it
  throw new TypeError(`format of "${call.gadgetName}" must return a string, found ${shown(text)}`);
}

function fromNote(noted: Json): ToldResult {
  const { text, error } = isJsonObject(noted) ? noted : {};
  return text === undefined ? { error: String(error) } : { text: String(text) };
}
