import type { AnyGadget } from "../core/gadget.ts";
import type { Json } from "../core/json.ts";
import { messageOf } from "../core/source_error.ts";
import { CallError } from "./call_step.ts";
import { gadgetFromNote, gadgetNote } from "./run_gadget.ts";
import type { ToolSource } from "./offered.ts";
import type { Run } from "./run.ts";

type Found = AnyGadget | CallError | undefined;

/** The gadgets that the prompts of a run name. A record keeps what is found, so that a replay needs no catalogue; each is looked for once. */
export function notedTools(
  run: Run,
  { tools, keyPrefix }: { readonly tools: ToolSource; readonly keyPrefix: string },
): ToolSource {
  const byName = new Map<string, Found | Promise<Found>>();
  let names: readonly string[] | Promise<readonly string[]> | undefined;
  const look = (name: string): Found | Promise<Found> =>
    run.lookUp(`${keyPrefix}tool:${name}`, () => found(tools, name), { note: noteOf, from: fromNote });
  return {
    async find(name) {
      const known = byName.has(name) ? byName.get(name) : look(name);
      byName.set(name, known);
      const gadget = await known;
      if (gadget instanceof CallError) throw gadget;
      return gadget;
    },
    names: async () =>
      await (names ??= run.lookUp(`${keyPrefix}tools`, async () => [...await tools.names()], {
        note: (list: readonly string[]): Json => [...list],
        from: (noted) => Array.isArray(noted) ? noted.map(String) : [],
      })),
    around: tools.around,
  };
}

async function found(tools: ToolSource, name: string): Promise<Found> {
  try {
    return await tools.find(name);
  } catch (error) {
    return error instanceof CallError ? error : new CallError(messageOf(error), "unavailable");
  }
}

function noteOf(gadget: Found): Json {
  return gadget === undefined ? null : gadgetNote(gadget);
}

function fromNote(noted: Json): Found {
  return noted === null ? undefined : gadgetFromNote(noted);
}
