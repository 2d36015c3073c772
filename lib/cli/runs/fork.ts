import type { Terminal } from "../../host/terminal/terminal.ts";
import { openApp } from "../../service/app.ts";
import { EXIT, UsageError } from "../../service/exit_code.ts";
import type { Kind } from "../../service/kinds/kind.ts";
import { kindNamed } from "../../service/kinds/kinds.ts";
import { forkRun } from "../../service/start/fork.ts";
import type { COMMANDS, ParsedCommand } from "../flags/flags.ts";

/** `orrery fork ID --from KEY`, and `orrery fork ID --turn N` of a conversation: prints the id of the new run. */
export async function fork(
  { words, flags }: ParsedCommand<typeof COMMANDS.fork>,
  terminal: Terminal,
  kinds: readonly Kind[],
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
  using app = await openApp();
  const journal = await app.neededJournal();
  const { id: source, kind } = journal.conversation(word).summary;
  const hasTurns = kindNamed(kind, kinds)?.forks === "turn";
  if (hasTurns && from !== undefined) {
    throw usage(
      `${source} is a ${kind}, which goes back to an earlier turn: orrery fork ${source} --turn N. ` +
        `orrery show ${kind} ${source} shows its turns`,
    );
  }
  if (!hasTurns && turn !== undefined) {
    const turning = kinds.flatMap(({ name, forks }) => forks === "turn" ? `${name}s` : []);
    throw usage(
      `--turn is for ${turning.join(" and ")}; ${source} is a run of another kind (${kind}): --from KEY`,
    );
  }
  const place = { journal, ...app.project };
  const id = await forkRun(source, turn === undefined ? { from: from ?? "" } : { turn }, place);
  await terminal.stdout.write(`${id}\n`);
  await terminal.stderr.write(`to go on: orrery resume ${id}\n`);
  return EXIT.ok;
}
