import type { Terminal } from "../../host/terminal/terminal.ts";
import { keepGrants, keptGrants } from "../../project/trust/grants.ts";
import { EXIT, UsageError } from "../../service/exit_code.ts";
import type { COMMANDS, ParsedCommand } from "../flags/flags.ts";
import { neededJournal } from "../here.ts";

/** `orrery fork ID --from KEY`, and `orrery fork ID --turn N` of a conversation: prints the id of the new run. */
export async function fork(
  { words, flags }: ParsedCommand<typeof COMMANDS.fork>,
  terminal: Terminal,
): Promise<number> {
  const word = words[0] ?? "";
  const { from, turn } = flags;
  const usage = (problem: string) => new UsageError(problem, "fork");
  if (from !== undefined && turn !== undefined) {
    throw usage("--from and --turn both say where the new run begins; choose one");
  }
  if (turn !== undefined && !Number.isSafeInteger(turn)) {
    throw usage(`--turn must be a whole number from 0; found ${turn}`);
  }
  if (from === undefined && turn === undefined) {
    throw usage(
      `orrery fork needs --from KEY: orrery trace ${word} shows the keys of its steps; of a conversation --turn N`,
    );
  }
  using here = await neededJournal();
  const { journal, project } = here;
  const { id: source, kind } = journal.conversation(word).summary;
  // A conversation goes on behind a turn: what is done anew within one would be another answer to the same message.
  if (kind === "conversation" && from !== undefined) {
    throw usage(
      `${source} is a conversation, which goes back to an earlier turn: orrery fork ${source} --turn N. ` +
        `orrery show conversation ${source} shows its turns`,
    );
  }
  if (kind !== "conversation" && turn !== undefined) {
    throw usage(`--turn is for conversations; ${source} is a run of another kind (${kind}): --from KEY`);
  }
  const id = turn === undefined
    ? journal.fork(source, { from: from ?? "" })
    : journal.branch(source, { turn });
  // It was the user who allowed them, and it is the user who goes on.
  await keepGrants(id, await keptGrants(source, project), project);
  await terminal.stdout.write(`${id}\n`);
  await terminal.stderr.write(`to go on: orrery resume ${id}\n`);
  return EXIT.ok;
}
