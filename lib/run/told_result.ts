import { isPromise } from "../core/async.ts";
import type { AnyGadget, GadgetCall } from "../core/gadget.ts";
import { isJsonObject } from "../core/json.ts";
import type { Json } from "../core/json.ts";
import { hasLateFormat, LATE_FORMAT, type LateFormatGadget } from "../core/late_format.ts";
import { messageOf } from "../core/source_error.ts";
import { shown } from "../schema/issue.ts";
import type { Run } from "./run.ts";

/** What a model reads of a result, or why its gadget could not say it. */
export type ToldResult = { readonly text: string } | { readonly error: string };

/** What a gadget's own `format` makes of a result. A record keeps it, since a replay has no gadget to ask. */
export function toldResult(
  run: Run,
  { key, gadget, call, result }: {
    readonly key: string;
    readonly gadget: AnyGadget;
    readonly call: GadgetCall;
    readonly result: Json;
  },
): ToldResult | Promise<ToldResult> {
  const tell = (): ToldResult | Promise<ToldResult> =>
    hasLateFormat(gadget) ? toldLater(gadget, result, call) : told(() => formatted(gadget, result, call));
  return run.lookUp(key, tell, {
    note: (result): Json => ({ ...result }),
    from: fromNote,
  });
}

function told(tell: () => string): ToldResult {
  try {
    return { text: tell() };
  } catch (error) {
    return { error: messageOf(error) };
  }
}

async function toldLater(gadget: LateFormatGadget, result: Json, call: GadgetCall): Promise<ToldResult> {
  try {
    return { text: await gadget[LATE_FORMAT](result, call) };
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
