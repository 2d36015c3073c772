import { didYouMean } from "../core/nearest.ts";
import type { Catalog } from "../core/catalog.ts";
import { writeCalls } from "../parse/write_calls.ts";
import type { ReadyRun, StartPlace } from "./ready_run.ts";
import { ServiceError } from "./service.ts";
import type { StartRun } from "./service.ts";
import { startCalls } from "./start_calls.ts";

/** One call of a gadget that somebody wishes. */
export type GadgetWish = Extract<StartRun, { readonly kind: "gadget" }>;

/** The call is a text of calls as well, so that it is resumed as one. @throws {ServiceError} `not-found`, `invalid`, `stopping` */
export async function startGadget(
  { name, input, ...wishes }: GadgetWish,
  at: StartPlace & { readonly catalog: Catalog },
): Promise<ReadyRun> {
  if (at.catalog.maybeFind(name) === undefined) {
    const known = at.catalog.entries.map((entry) => entry.name);
    throw new ServiceError(`There is no gadget ${JSON.stringify(name)}.${didYouMean(name, known)}`, {
      code: "not-found",
    });
  }
  return await startCalls({ ...wishes, name, text: callText({ name, input }, at) }, at);
}

/** @throws {ServiceError} `invalid` for what no call can say */
function callText({ name, input }: Pick<GadgetWish, "name" | "input">, { project }: StartPlace): string {
  try {
    const { markers } = project.config.calls;
    const call = { gadgetName: name, invocationId: "call", parameters: input };
    return writeCalls([call], { markers, asJson: true }); // as arguments of their own, texts could become numbers
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new ServiceError(`input: ${error.message}`, { code: "invalid", details: { field: "input" } });
  }
}
