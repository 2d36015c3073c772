import { checkAgent } from "../check/check_agent.ts";
import { dirname } from "../core/path.ts";
import { FileError } from "../core/world.ts";
import { hostFiles } from "../host/files.ts";
import type { CheckReport } from "./check_report.ts";

/** Tells what is wrong with an agent file, and what in it is likely not meant. */
export async function checkAgentFile(
  path: string,
  { report }: { readonly report: CheckReport },
): Promise<void> {
  report.file(path);
  const read = await textOf(path);
  if ("problem" in read) {
    const { problem: message } = read;
    return report.add({ kind: "agent", path, line: 1, column: 1, severity: "error", message });
  }
  report.file(path, read.text);
  for (
    const { path: part, message, file: _file, ...problem } of await checkAgent(read.text, { file: path })
  ) {
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
