import { messageOf } from "../../core/core.ts";
import type { Terminal } from "../../host/terminal/terminal.ts";
import { openApp } from "../../service/app.ts";
import { EXIT } from "../../service/exit_code.ts";
import type { COMMANDS, ParsedCommand } from "../flags/flags.ts";

/** `orrery rm ID...`: removes what can be removed, and says what cannot. */
export async function rm({ words }: ParsedCommand<typeof COMMANDS.rm>, terminal: Terminal): Promise<number> {
  using app = await openApp();
  await app.neededJournal();
  const problems: string[] = [];
  for (const word of words) {
    try {
      await app.removeRun(word);
    } catch (error) {
      problems.push(messageOf(error));
    }
  }
  await terminal.stderr.write(problems.map((problem) => `error: ${problem}\n`).join(""));
  return problems.length === 0 ? EXIT.ok : EXIT.failed;
}
