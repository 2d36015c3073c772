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
  const place = placeOf(flags, word);
  using here = await neededJournal();
  const { journal, project } = here;
  const { id: source, kind } = journal.conversation(word).summary;
  assertKind(kind, { place, id: source });
  const id = "turn" in place ? journal.branch(source, place) : journal.fork(source, place);
  // It was the user who allowed them, and it is the user who goes on.
  await keepGrants(id, await keptGrants(source, project), project);
  await terminal.stdout.write(`${id}\n`);
  await terminal.stderr.write(`to go on: orrery resume ${id}\n`);
  return EXIT.ok;
}

/** Where the new run leaves the old one. */
type ForkPlace = { readonly from: string } | { readonly turn: number };

/** @throws {UsageError} */
function placeOf(
  { from, turn }: ParsedCommand<typeof COMMANDS.fork>["flags"],
  word: string,
): ForkPlace {
  if (from !== undefined && turn !== undefined) {
    throw new UsageError("--from and --turn both say where the new run begins; choose one", "fork");
  }
  if (turn !== undefined) {
    if (Number.isSafeInteger(turn)) return { turn };
    throw new UsageError(`--turn must be a whole number from 0; found ${turn}`, "fork");
  }
  if (from !== undefined) return { from };
  throw new UsageError(
    `orrery fork needs --from KEY: orrery trace ${word} shows the keys of its steps; of a conversation --turn N`,
    "fork",
  );
}

/** A conversation goes on behind a turn: what is done anew within one would be another answer to the same message. @throws {UsageError} */
function assertKind(
  kind: string,
  { place, id }: { readonly place: ForkPlace; readonly id: string },
): void {
  if (kind === "conversation" && "from" in place) {
    throw new UsageError(
      `${id} is a conversation, which goes back to an earlier turn: orrery fork ${id} --turn N. orrery show conversation ${id} shows its turns`,
      "fork",
    );
  }
  if (kind !== "conversation" && "turn" in place) {
    throw new UsageError(
      `--turn is for conversations; ${id} is a run of another kind (${kind}): --from KEY`,
      "fork",
    );
  }
}
