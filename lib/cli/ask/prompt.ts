import { isAgentTalk, promptRunInput } from "../../service/prompt/run.ts";
import type { COMMANDS, ParsedCommand } from "../flags/flags.ts";
import { recordedRun } from "../run/record.ts";
import { UsageError } from "../../service/exit_code.ts";

type AskFlags = ParsedCommand<typeof COMMANDS.ask>["flags"];
type ChatFlags = ParsedCommand<typeof COMMANDS.chat>["flags"];

/** Whether a question goes to a prompt or to an agent: by its flags or, where they say nothing, by the record that is replayed. */
export async function asksPrompt(flags: AskFlags, cwd: string): Promise<boolean> {
  if (flags.prompt !== undefined || flags.profile !== undefined) return true;
  if (flags.replay === undefined) return false;
  const { kind, input } = await recordedRun(flags.replay, cwd);
  return kind === "prompt" && promptRunInput(input).say !== undefined;
}

/** Whether a conversation is one with an agent: by its flag or, where that says nothing, by the record that is replayed. */
export async function talksWithAgent({ profile, replay }: ChatFlags, cwd: string): Promise<boolean> {
  if (profile !== undefined) return true;
  return replay !== undefined && isAgentTalk((await recordedRun(replay, cwd)).input);
}

/** @throws {UsageError} for each flag that says what the prompt says itself */
export function refuseWithPrompt(flags: AskFlags): void {
  const asked = flags.prompt === undefined ? "--profile" : "--prompt";
  const problems = [
    ...(flags.schema === undefined ? [] : [
      `--schema and ${asked} cannot both say what the answer has to be: the prompt does, with its parser or format`,
    ]),
    ...dialogProblems(flags, asked),
  ];
  if (problems.length > 0) throw new UsageError(problems, { command: "ask" });
}

/** @throws {UsageError} for each flag that says what the agent says itself */
export function refuseWithProfile(flags: ChatFlags): void {
  const problems = [
    ...dialogProblems(flags, "--profile"),
    ...(flags.input.includes("-")
      ? [
        "--input - cannot be: stdin is where the messages come from; --input-json @FILE reads the values from a file",
      ]
      : []),
  ];
  if (problems.length > 0) throw new UsageError(problems, { command: "chat" });
}

/** @throws {UsageError} for flags that only a prompt has a use for */
export function refuseWithoutPrompt(
  flags: Pick<AskFlags, "input" | "input-json">,
  { command, wanted }: { readonly command: "ask" | "chat"; readonly wanted: string },
): void {
  const given = [
    ...(flags.input.length > 0 ? ["--input"] : []),
    ...(flags["input-json"] === undefined ? [] : ["--input-json"]),
  ];
  if (given.length === 0) return;
  const problems = given.map((flag) => `${flag} gives values to a prompt: name it with ${wanted}`);
  throw new UsageError(problems, { command });
}

function dialogProblems(
  flags: Pick<AskFlags, "system" | "tools" | "tools-mode">,
  asked: "--prompt" | "--profile",
): readonly string[] {
  return [
    ...(flags.system === undefined
      ? []
      : [`--system and ${asked} cannot both be the system text: that of ${asked} is a prompt`]),
    ...(flags.tools.length === 0
      ? []
      : [`--tools and ${asked} cannot both say what the model may call: the prompt names its tools itself`]),
    ...(flags["tools-mode"] === undefined
      ? []
      : [`--tools-mode is not for ${asked}: the tools of a prompt are called by the calls of the provider`]),
  ];
}
