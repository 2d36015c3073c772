import { dirname } from "node:path";
import { checkAgentFile } from "./check_agent_file.ts";
import { checkCalls } from "./check_calls.ts";
import { checkDocuments } from "./check_documents.ts";
import { checkCollection } from "./check_collection.ts";
import { checkSettings } from "./check_settings.ts";
import type { DocumentFlags } from "./check_documents.ts";
import type { CheckPlaces } from "./check_places.ts";
import { checkPrompts } from "./check_prompts.ts";
import type { CheckReport } from "./check_report.ts";
import type { CheckTargets } from "./check_targets.ts";

/** Looks at files of all kinds. Gives how many modules of prompts were not looked at. */
export async function checkFiles(
  targets: CheckTargets,
  { places, report, flags }: {
    readonly places: CheckPlaces;
    readonly report: CheckReport;
    readonly flags: DocumentFlags;
  },
): Promise<number> {
  await checkDocuments(targets, { places, report, flags });
  for (const path of targets.calls) await checkCalls(path, { places, report });
  for (const path of targets.agents) await checkAgentFile(path, { places, report, ...flags });
  for (const path of targets.collections) {
    const place = await places.of(dirname(path));
    const message = place && await checkCollection(path, { place, report });
    if (message !== undefined) {
      report.add({ kind: "collection", path, line: 1, column: 1, severity: "error", message });
    }
  }
  const roots = [...targets.folders].filter((folder) => places.rootOf(folder) === folder);
  for (const root of new Set([...[...targets.settings].map(dirname), ...roots])) {
    await checkSettings(root, { places, report });
  }
  return await checkPrompts(targets, { places, report });
}
