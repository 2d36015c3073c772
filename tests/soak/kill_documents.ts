// A document killed at every event it tells and at random moments, several times in one run, and gone on with, through the command line.

import { survive, uninterrupted } from "../_killable.ts";
import type { Kill } from "../_killable.ts";
import { KILLABLE_DOCUMENT, killableDocument } from "../_killable_document.ts";
import { randomFrom } from "./random.ts";

const RANDOM_RUNS = 60;
const MOST_KILLS = 6;
const LONGEST_MS = 40;

/** Kills it everywhere; gives what was seen. The number that the random moments come from is in the message of what fails. */
export async function killDocuments(): Promise<string> {
  await using project = await killableDocument();
  const work = KILLABLE_DOCUMENT;
  const want = await uninterrupted(project, work);
  const seed = crypto.getRandomValues(new Uint32Array(1))[0] ?? 1;
  const random = randomFrom(seed);
  const everywhere = Array.from(
    { length: want.events + 1 },
    (_, events): readonly Kill[] => [{ events, afterMs: 0 }],
  );
  const anywhere = Array.from(
    { length: RANDOM_RUNS },
    () =>
      Array.from({ length: 1 + random(MOST_KILLS) }, (): Kill => ({
        events: random(want.events + 1),
        afterMs: random(LONGEST_MS),
      })),
  );
  let [killed, unverified] = [0, 0];
  for (const kills of [...everywhere, ...anywhere]) {
    const seen = await survive(project, {
      work: { ...work, name: `${work.name}, seed ${seed}` },
      want,
      kills,
    });
    killed += seen.kills;
    unverified += seen.unverified;
  }
  return `${killed} processes killed, every document ended as if none had been, ${unverified} effects were not done again unasked`;
}
