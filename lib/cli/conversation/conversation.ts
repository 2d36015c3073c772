// `orrery chat FILE.agent.yml`: talks with an agent, in the terminal or through a pipe.
import type { FileCommand } from "../run/perform.ts";
import { dirname, resolve } from "node:path";
import type { Terminal } from "../../host/terminal/terminal.ts";
import { openApp } from "../../service/app.ts";
import { EXIT, UsageError } from "../../service/exit_code.ts";
import { beginConversation } from "../../service/talks/open.ts";
import { aroundRun } from "../run/around.ts";
import { conversationOfFlags } from "./flags.ts";
import { MessageFiles } from "../chat/lines.ts";
import { attachAt } from "../../service/input/attached.ts";
import { conversationLines } from "./lines.ts";
import { COMMANDS, type ParsedCommand } from "../flags/flags.ts";
import { grantsOf } from "../flags/grants.ts";
import { holdConversation } from "./hold.ts";
import { aroundTalk, beginTalk, greet, typistOf } from "../chat/talk.ts";
import { readAgent, refusedAgent, tellingProblems } from "./agent.ts";
import type { ConversationWork } from "./talk.ts";
import { assertSameText, openReplay } from "../run/record.ts";
import { conversation } from "../../service/kinds/conversation/conversation.ts";
import { recordedPlace } from "../../service/start/ready_run.ts";
import { replayedTalk } from "../../service/talks/replayed.ts";
import { refuseFlags } from "../flags/parse.ts";
import { chooseView } from "../run/view.ts";

const OF_RUNS = "is not for chats with an agent: orrery run AGENT";

type ChatFlags = ParsedCommand<typeof COMMANDS.chat>["flags"];

/** Talks with an agent from its first step on; gives the exit code. @throws {UsageError}, {FileError}, {ProblemsError} */
export async function chatWithAgentFile(
  word: string,
  { flags, terminal }: { readonly flags: ChatFlags; readonly terminal: Terminal },
): Promise<number> {
  assertAgent(word);
  const ofRuns = [
    ...(flags.record === undefined ? [] : [`--record ${OF_RUNS} --say TEXT --record FILE`]),
    ...(flags.replay === undefined ? [] : [`--replay ${OF_RUNS} --replay FILE`]),
  ];
  refuseFlags(COMMANDS.chat, flags, "conversation", ofRuns);
  const opened = await openAgent(word, { flags, terminal, command: "chat" });
  if (opened === undefined) return EXIT.usage;
  const { project, agent } = opened;
  const talk = beginTalk(terminal, flags, agent);
  const typist = await typistOf(terminal);
  await using around = await aroundTalk(talk, { typist });
  const files = new MessageFiles(attachAt({ ...opened, around }));
  await files.add(flags.attach);
  const begun = await beginConversation({ ...opened, around });
  if (!("session" in begun)) return await refusedAgent(begun, { project, terminal });
  await greet(talk, `${agent.id} (${agent.file})`);
  return await holdConversation({
    ...talk,
    ...begun,
    flags: { ...flags, json: false, output: undefined },
    place: project,
    first: "start",
    lines: conversationLines({ ...begun, ...talk, typist, files }),
    isTyped: typist !== undefined,
    isChat: true,
  });
}

/** The agent of a file, and what the flags say for a conversation with it; undefined when it cannot be read, which is told. */
async function openAgent(
  word: string,
  { flags, terminal, command }: {
    readonly flags: ChatFlags | FileCommand["flags"];
    readonly terminal: Terminal;
    readonly command: "chat" | "run";
  },
) {
  const grants = grantsOf(flags);
  const { project } = await openApp({ file: word });
  const agent = await readAgent(word, { project, terminal });
  if (agent === undefined) return undefined;
  const input = await conversationOfFlags(flags, { agent: agent.id, project, command });
  return { project, agent, input, grants, isEphemeral: flags.ephemeral };
}

/** @throws {UsageError} */
export function assertAgent(word: string): void {
  if (conversation.file.is(word)) return;
  throw new UsageError(
    `AGENT is a file that ends with .agent.yml or .agent.yaml; found ${JSON.stringify(word)}. ` +
      "A profile of orrery.yaml is named by --profile NAME, a model by --model",
    "chat",
  );
}

// `orrery run FILE.agent.yml --say TEXT`: a conversation up to where nothing more is said.

/** Begins a conversation, says what `--say` says, and leaves it where it waits; gives the exit code. @throws {UsageError}, {FileError}, {ProblemsError} */
export async function runConversation(
  word: string,
  command: FileCommand,
): Promise<number> {
  const { flags, terminal, stop } = command;
  if (flags.replay !== undefined) return await replayConversation(word, { ...command, record: flags.replay });
  const opened = await openAgent(word, { flags, terminal, command: "run" });
  if (opened === undefined) return EXIT.usage;
  const { project, agent } = opened;
  const { record } = flags;
  const view = await chooseView(terminal, { flags, file: agent.file, shownText: "none" });
  await using around = await aroundRun(view, { terminal, stop, isQuiet: flags.quiet, usesStdin: false });
  const begun = await beginConversation({ ...opened, around, record });
  if (!("session" in begun)) return await refusedAgent(begun, { project, terminal });
  return await holdConversation({
    ...saying(flags.say),
    ...begun,
    terminal,
    flags,
    place: project,
    view,
    stop,
  });
}

/** Holds the conversation of a record again, every effect answered by it. @throws {ReplayError} when the file is not the recorded one any more */
async function replayConversation(
  word: string,
  { record, flags, terminal, cwd, stop }: FileCommand & { readonly record: string },
): Promise<number> {
  const { signal } = stop;
  const opened = await openReplay(record, { cwd, kind: "conversation", alsoRecords: flags.record });
  await assertSameText(word, { ...opened, cwd, record });
  const at = await recordedPlace(dirname(resolve(cwd, word)), { cwd, grants: grantsOf(flags), signal });
  const { file = word, files: [stored] = [] } = opened.run;
  const agent = await tellingProblems(stored?.text ?? "", { file, project: at.project, terminal });
  if (agent === undefined) return EXIT.usage;
  const { session, said } = replayedTalk(opened, { agent, at, signal });
  const view = await chooseView(terminal, { flags, file, shownText: "none" });
  return await holdConversation({
    ...saying(said),
    agent,
    session,
    isKept: false,
    terminal,
    flags,
    place: at.project,
    view,
    stop,
  });
}

/** What says one message after the other while there is one left, and leaves the conversation where it waits. */
export function saying(
  messages: readonly string[],
): Pick<ConversationWork, "first" | "lines" | "isTyped" | "isChat" | "between"> {
  const left = [...messages];
  return {
    first: "start",
    lines: () => ({
      next: () => Promise.resolve(left.shift()),
      hasMore: () => Promise.resolve(left.length > 0),
    }),
    isTyped: false,
    isChat: false,
    between: "\n",
  };
}
