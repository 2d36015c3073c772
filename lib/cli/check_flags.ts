import type { Terminal } from "../host/terminal.ts";
import { MERGE_MODES } from "../parse/parameter_reader.ts";
import { grantsNothing, NO_GRANTS } from "../project/grants.ts";
import type { RunGrants } from "../project/grants.ts";
import { interruptible } from "./around_run.ts";
import type { DocumentFlags } from "../service/check_documents.ts";
import type { COMMANDS, ParsedCommand } from "./flags.ts";
import { blockOf } from "./given_input.ts";
import { textsOf } from "../service/document_run_input.ts";
import { promptInput } from "../service/prompt_input.ts";
import { stdinText } from "./stdin_text.ts";

type CheckFlags = ParsedCommand<typeof COMMANDS.check>["flags"];

/** What the flags say of documents; undefined after Ctrl-C. @throws {UsageError}, {FileError} */
export async function checkFlags(
  flags: CheckFlags,
  { cwd, terminal, grants }: {
    readonly cwd: string;
    readonly terminal: Terminal;
    readonly grants: RunGrants;
  },
): Promise<DocumentFlags | undefined> {
  let isStopped = false;
  const stdin = async (): Promise<string | undefined> => {
    const { signal } = interruptible(terminal);
    const text = await stdinText(terminal, signal);
    isStopped = signal.aborted;
    return text;
  };
  const { values } = await promptInput(flags, { cwd, command: "check", stdin });
  if (isStopped) return undefined;
  const mode = MERGE_MODES.find((each) => each === flags.mode);
  return {
    values: textsOf(values),
    blocks: flags.block.map((block) => blockOf(block, "check")),
    isGranting: !grantsNothing({ ...grants, flags: NO_GRANTS.flags }),
    isGiving: flags.input.length > 0 || flags["input-json"] !== undefined,
    prompt: flags.prompt,
    model: flags.model,
    mode,
  };
}
