// Which flags an agent takes, and which only an agent takes.

import { UsageError } from "../../service/exit_code.ts";
import type { COMMANDS, ParsedCommand } from "./flags.ts";

type RunFlags = ParsedCommand<typeof COMMANDS.run>["flags"];
type ChatFlags = ParsedCommand<typeof COMMANDS.chat>["flags"];

/** Of a flag that was typed: why it does not belong here. */
type Refusals<Flags> = { readonly [Name in keyof Flags]?: string };

const PROMPTS = "is for prompts; an agent takes slots: --slot NAME=VALUE";
const DOCUMENTS = "is for documents; an agent takes none";
const OWN = "is not for an agent file, which says it itself";
const RECORD = "is not for conversations: orrery trace shows what happened, orrery fork --turn goes back";

const OF_RUN: Refusals<RunFlags> = {
  input: PROMPTS,
  "input-json": PROMPTS,
  profile: "is for prompts; a step of an agent names its model, or --model does",
  prompt: DOCUMENTS,
  block: DOCUMENTS,
  mode: DOCUMENTS,
  out: DOCUMENTS,
  "show-operations": DOCUMENTS,
  watch: DOCUMENTS,
  record: RECORD,
  replay: RECORD,
};

const OF_CHAT: Refusals<ChatFlags> = {
  input: PROMPTS,
  "input-json": PROMPTS,
  profile: "names a profile of orrery.yaml, and AGENT a file: leave one of them out",
  system: OWN,
  tools: OWN,
  "tools-mode": OWN,
  temperature: OWN,
  record: RECORD,
  replay: RECORD,
};

const ONLY_AGENTS = ["user", "module", "session", "context", "collection", "slot"] as const;

/** @throws {UsageError} with every flag of `run` that an agent has no use for */
export function refuseRunFlags(flags: RunFlags): void {
  refuse(flags, { refusals: OF_RUN, command: "run" });
}

/** @throws {UsageError} with every flag of `chat` that an agent file has no use for */
export function refuseChatFlags(flags: ChatFlags): void {
  refuse(flags, { refusals: OF_CHAT, command: "chat" });
}

/** @throws {UsageError} with every flag that only an agent has a use for @param wanted `orrery chat AGENT` */
export function refuseWithoutAgent(
  flags: Pick<ChatFlags, typeof ONLY_AGENTS[number]> & Partial<Pick<RunFlags, "say">>,
  { command, wanted }: { readonly command: "run" | "chat"; readonly wanted: string },
): void {
  const given = [...ONLY_AGENTS, "say" as const].filter((name) => isTyped(flags[name]));
  if (given.length === 0) return;
  throw new UsageError(given.map((name) => `--${name} is for conversations with an agent: ${wanted}`), {
    command,
  });
}

function refuse<Flags extends object>(
  flags: Flags,
  { refusals, command }: { readonly refusals: Refusals<Flags>; readonly command: string },
): void {
  const typed = new Map<string, unknown>(Object.entries(flags));
  const problems = Object.entries(refusals).flatMap(([name, why]) =>
    isTyped(typed.get(name)) ? [`--${name} ${why}`] : []
  );
  if (problems.length > 0) throw new UsageError(problems, { command });
}

function isTyped(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : value !== undefined && value !== false;
}
