// `orrery chat FILE.agent.yml`: talks with an agent, in the terminal or through a pipe.

import { dirname, resolve } from "node:path";
import { realPath } from "../host/paths.ts";
import type { Terminal } from "../host/terminal.ts";
import { openSettings } from "../project/project.ts";
import { isAgentWord } from "./parse_flags.ts";
import { refusedAgent } from "./refused_agent.ts";
import { beginConversation } from "../service/talks/open.ts";
import { conversationOfFlags } from "./conversation_flags.ts";
import { conversationLines } from "./conversation_lines.ts";
import { EXIT, UsageError } from "../service/exit_code.ts";
import type { COMMANDS, ParsedCommand } from "./flags.ts";
import { grantsOf } from "./grants.ts";
import { holdConversation } from "./hold_conversation.ts";
import { aroundTalk, beginTalk, greet, typistOf } from "./hold_talk.ts";
import { readAgent } from "./read_agent.ts";
import { refuseChatFlags } from "./refused_agent_flags.ts";

type ChatFlags = ParsedCommand<typeof COMMANDS.chat>["flags"];

/** Talks with an agent from its first step on; gives the exit code. @throws {UsageError}, {FileError}, {ProblemsError} */
export async function chatWithAgentFile(
  word: string,
  { flags, terminal, cwd }: {
    readonly flags: ChatFlags;
    readonly terminal: Terminal;
    readonly cwd: string;
  },
): Promise<number> {
  assertAgent(word);
  refuseChatFlags(flags);
  const grants = await grantsOf(flags);
  const project = await openSettings(dirname(realPath(resolve(cwd, word))), { cwd });
  const agent = await readAgent(word, { project, terminal });
  if (agent === undefined) return EXIT.usage;
  const input = await conversationOfFlags(flags, { agent: agent.id, project, command: "chat" });
  const talk = beginTalk(terminal, flags, agent);
  const typist = await typistOf(terminal);
  await using around = await aroundTalk(talk, { typist });
  const begun = await beginConversation({
    agent,
    input,
    project,
    grants,
    around,
    isEphemeral: flags.ephemeral,
  });
  if (!("session" in begun)) return await refusedAgent(begun, { project, terminal });
  await greet(talk, `${agent.id} (${agent.file})`);
  return await holdConversation({
    ...talk,
    ...begun,
    flags: { ...flags, json: false, output: undefined },
    place: project,
    first: "start",
    lines: conversationLines({ ...begun, ...talk, typist }),
    isTyped: typist !== undefined,
    isChat: true,
  });
}

/** @throws {UsageError} */
function assertAgent(word: string): void {
  if (isAgentWord(word)) return;
  throw new UsageError([
    `AGENT is a file that ends with .agent.yml or .agent.yaml; found ${JSON.stringify(word)}. ` +
    "A profile of orrery.yaml is named by --profile NAME, a model by --model",
  ], { command: "chat" });
}
