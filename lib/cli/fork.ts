import type { Terminal } from "../host/terminal.ts";
import { keepGrants, keptGrants } from "../project/run_grants.ts";
import { EXIT, UsageError } from "./exit_code.ts";
import type { COMMANDS, ParsedCommand } from "./flags.ts";
import { neededJournal } from "./journal_here.ts";

/** `orrery fork ID --from KEY`: prints the id of the new run. */
export async function fork(
  { words, flags }: ParsedCommand<typeof COMMANDS.fork>,
  terminal: Terminal,
): Promise<number> {
  const word = words[0] ?? "";
  if (flags.from === undefined) {
    throw new UsageError([`orrery fork needs --from KEY: orrery trace ${word} shows the keys of its steps`], {
      command: "fork",
    });
  }
  using here = await neededJournal();
  const { journal, project } = here;
  const source = journal.read(word).summary.id;
  const id = journal.fork(source, { from: flags.from });
  // It was the user who allowed them, and it is the user who goes on.
  await keepGrants(id, await keptGrants(source, project), project);
  await terminal.stdout.write(`${id}\n`);
  await terminal.stderr.write(`to go on: orrery resume ${id}\n`);
  return EXIT.ok;
}
