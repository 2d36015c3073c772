// What gadgets really used in the runs of a project that are kept: a file of the user's own for each project, outside of all of them.
import {
  canonicalJson,
  type Files,
  type GadgetUse,
  type LockedGadget,
  maybeText,
  sha256,
} from "../../core/core.ts";
import { join } from "node:path";
import { isEmptyPermissions } from "../../policy/permission_sets.ts";
import { UseTally } from "../../policy/use_tally.ts";

/** Counted up with every change of what is written: of version 1 files that were many are missing. */
const VERSION = 2;

/** What one gadget did in this run. */
export interface GadgetTally {
  /** As a lock has it. */
  readonly gadget: LockedGadget;
  readonly tally: UseTally;
}

/** Of which project, and where it is kept. */
export interface GadgetUsePlace {
  /** The project root: real and absolute. */
  readonly root: string;
  /** The user's state folder. */
  readonly state: Files;
  /** Does the work while no other process does any under that name. Default: at once. */
  readonly alone?: (name: string, work: () => Promise<void>) => Promise<void>;
}

/** What is known of one gadget. */
interface KnownUse extends GadgetUse {
  readonly name: string;
  readonly file: string;
  /** Of the names and hashes of its modules, in hex. */
  readonly modules: string;
}

/** Adds this run to what is known; of a gadget whose code is another one now, what was known is left out. */
export async function keepGadgetUse(tallies: readonly GadgetTally[], place: GadgetUsePlace): Promise<void> {
  const told = tallies.filter(({ tally }) => tally.use.calls > 0 && !isEmptyPermissions(tally.granted));
  if (told.length === 0) return;
  const { alone = (_name, work) => work() } = place;
  await alone(fileOf(place), () => addUse(told, place)); // runs end at the same time
}

async function addUse(told: readonly GadgetTally[], place: GadgetUsePlace): Promise<void> {
  const known = await readUse(place);
  const added = told.map(({ gadget, tally }): KnownUse => {
    const sum = new UseTally(tally.granted, place);
    const before = maybeUseOf(gadget, known);
    if (before !== undefined) sum.add(before);
    sum.add(tally.use);
    const { name, file } = gadget;
    return { name, file, modules: modulesHash(gadget), ...sum.use };
  });
  const others = known.filter(({ name, file }) =>
    !added.some((each) => each.name === name && each.file === file)
  );
  const text = JSON.stringify({ version: VERSION, root: place.root, gadgets: [...others, ...added] });
  await place.state.writeText(fileOf(place), `${text}\n`);
}

/** What is known of a gadget as it is; nothing when that cannot be read. */
export async function gadgetUse(gadget: LockedGadget, place: GadgetUsePlace): Promise<GadgetUse> {
  const { calls, used } = maybeUseOf(gadget, await readUse(place)) ?? { calls: 0, used: [] };
  return { calls, used };
}

function maybeUseOf(gadget: LockedGadget, known: readonly KnownUse[]): KnownUse | undefined {
  const modules = modulesHash(gadget);
  return known.find((each) =>
    each.name === gadget.name && each.file === gadget.file && each.modules === modules
  );
}

function modulesHash({ modules }: LockedGadget): string {
  return sha256(canonicalJson({ ...modules }));
}

function fileOf({ root }: GadgetUsePlace): string {
  return join("gadget-use", `${sha256(root)}.json`);
}

/** What cannot be read, or was written by another version, is counted anew: nothing is allowed by it. */
async function readUse(place: GadgetUsePlace): Promise<readonly KnownUse[]> {
  const text = await maybeText(place.state, fileOf(place));
  if (text === undefined) return [];
  try {
    const { version, root, gadgets } = JSON.parse(text);
    return version === VERSION && root === place.root && Array.isArray(gadgets) ? gadgets : [];
  } catch {
    return [];
  }
}
