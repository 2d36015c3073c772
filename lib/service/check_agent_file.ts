import { checkAgent } from "../check/check_agent.ts";
import { byPlace } from "../core/by_place.ts";
import { dirname } from "../core/path.ts";
import { FileError } from "../core/world.ts";
import { hostFiles } from "../host/files.ts";
import { readAgentFile } from "../parse/read_agent_file.ts";
import type { CheckPlaces } from "./check_places.ts";
import type { CheckReport } from "./check_report.ts";
import { unknownGadgets } from "./unknown_gadgets.ts";

/** Tells what is wrong with an agent file, and what in it is likely not meant. */
export async function checkAgentFile(
  path: string,
  { places, report }: { readonly places: CheckPlaces; readonly report: CheckReport },
): Promise<void> {
  report.file(path);
  const given = places.textOf(path);
  const read = given === undefined ? await textOf(path) : { text: given };
  if ("problem" in read) {
    const { problem: message } = read;
    return report.add({ kind: "agent", path, line: 1, column: 1, severity: "error", message });
  }
  report.file(path, read.text);
  const problems = await checkAgent(read.text, { file: path });
  const { agent } = await readAgentFile(read.text, { file: path });
  const unknown = agent === undefined ? [] : await unknownGadgets(agent, () => places.of(dirname(path)));
  for (const { path: part, message, file: _file, ...problem } of [...problems, ...unknown].sort(byPlace)) {
    report.add({ kind: "agent", path, ...problem, message: `${part}: ${message}` });
  }
}

async function textOf(path: string): Promise<{ readonly text: string } | { readonly problem: string }> {
  try {
    return { text: await hostFiles({ root: dirname(path) }).readText(path) };
  } catch (thrown) {
    if (!(thrown instanceof FileError)) throw thrown;
    return { problem: thrown.message };
  }
}
