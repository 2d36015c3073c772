import type { RunKind, RunStart } from "../../core/core.ts";
import { hostFiles } from "../../host/files/files.ts";
import { endingRun, endOfThrown } from "../../run/work_run.ts";
import type { Kind, MadeRuns } from "../kinds/kind.ts";
import { foundInProject } from "../project_files.ts";
import { type ReadyRun, signalAt, type StartPlace } from "./ready_run.ts";

/** How the runs of a kind are made, also of one that says no more than what is done in them. */
export async function runsOf(kind: Kind | undefined): Promise<MadeRuns | undefined> {
  const runs = await kind?.run?.();
  if (kind === undefined || runs === undefined) return undefined;
  if ("again" in runs) return runs;
  const shows = { endsLine: true };
  const ready = (start: RunStart, at: StartPlace): ReadyRun => ({
    start,
    shows,
    events: (keeping) =>
      endingRun(kind.name as RunKind, { ...keeping, file: start.file, signal: signalAt(at) }, async (run) => {
        try {
          return { status: "done", value: await runs.perform(run, start.files?.[0]?.text ?? "", at) };
        } catch (error) {
          return { ...endOfThrown(error, run), keepAs: "stopped" };
        }
      }),
  });
  return {
    async start({ file }, at) {
      const { root } = at.project;
      const path = await foundInProject(file, { root, word: kind.file?.word ?? "file" });
      const text = await hostFiles({ root }).readText(path);
      return ready({ kind: kind.name, file: path, input: {}, files: [{ path, text }] }, at);
    },
    again: ({ run }, at) => Promise.resolve(ready(run, at)),
    shown: () => shows,
  };
}
