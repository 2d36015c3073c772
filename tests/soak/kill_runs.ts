// Runs killed at every event they tell and in the middle of their steps, and gone on with, through the command line.

import { killableProject, KILLABLES, survive, uninterrupted } from "../_killable.ts";

const AFTER_MS = [0, 2, 6, 13];

/** Kills each run everywhere, and what goes on with it a second time; gives what was seen. */
export async function killRuns(): Promise<string> {
  await using project = await killableProject();
  let [kills, unverified] = [0, 0];
  for (const work of Object.values(KILLABLES)) {
    const want = await uninterrupted(project, work);
    for (let events = 0; events <= want.events; events++) {
      for (const afterMs of AFTER_MS) {
        const again = { events: (events * 7 + afterMs) % want.events, afterMs: AFTER_MS[events % 4] ?? 0 };
        const seen = await survive(project, { work, want, kills: [{ events, afterMs }, again] });
        kills += seen.kills;
        unverified += seen.unverified;
      }
    }
  }
  return `${kills} processes killed, every run ended as if none had been, ${unverified} calls were not done again unasked`;
}
