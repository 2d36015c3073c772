// Conversations with agents of a server: `chat`, `run FILE.agent.yml` and `resume`.
import { RunEndedError, RunOwnedError } from "../../core/core.ts";
import { workingFolder } from "../../host/paths.ts";
import type { Terminal } from "../../host/terminal/terminal.ts";
import type { AgentFile } from "../../parse/agent/agent.ts";
import { printable } from "../../render/shown_text.ts";
import { EXIT, UsageError } from "../../service/exit_code.ts";
import { budgetOf } from "../../service/input/budget.ts";
import { unverifiedText } from "../../service/start/settle.ts";
import { MessageFiles } from "../chat/lines.ts";
import { beginTalk, greet, typistOf } from "../chat/talk.ts";
import { tellingProblems } from "../conversation/agent.ts";
import { assertAgent, saying } from "../conversation/conversation.ts";
import { type ConversationFlags, slotsOf } from "../conversation/flags.ts";
import { holdConversation } from "../conversation/hold.ts";
import { conversationLines, resumedLines } from "../conversation/lines.ts";
import type { ConversationWork } from "../conversation/talk.ts";
import { COMMANDS, type ParsedCommand } from "../flags/flags.ts";
import { refuseFlags } from "../flags/parse.ts";
import { firstOf, wordsSoFar } from "../resume/conversation.ts";
import { interruptible, nobody, userBehind } from "../run/around.ts";
import { chooseView } from "../run/view.ts";
import type { ServerClient } from "./client.ts";
import { fileThere, pathThere, toldProblems } from "./file.ts";
import { serverOf } from "./server.ts";
import { TalkThere } from "./talk.ts";

/** `orrery chat FILE.agent.yml --server URL`: talks with an agent of the server's project; gives the exit code. */
export async function chat(
  { words: [word], flags }: ParsedCommand<typeof COMMANDS.chat>,
  terminal: Terminal,
): Promise<number> {
  const client = serverOf(COMMANDS.chat, flags);
  if (word === undefined) {
    throw new UsageError(
      `With --server an agent of the project of ${client.url} is talked with: orrery chat NAME.agent.yml. ` +
        "Models and profiles are talked with here, without --server",
      "chat",
    );
  }
  assertAgent(word);
  refuseFlags(COMMANDS.chat, flags, "conversation");
  const agent = await agentThere(word, { client, terminal });
  if (agent === undefined) return EXIT.usage;
  const talk = beginTalk(terminal, flags, agent);
  const typist = await typistOf(terminal);
  const user = await userBehind(talk.view, {
    terminal,
    isQuiet: flags.quiet,
    usesStdin: false,
    typist,
    turn: () => talk.stop.turn,
  });
  const wish = wishOf(word, flags, { ask: user.canAnswer, command: "chat" });
  const session = new TalkThere({ client, view: talk.view, user, wish });
  const files = new MessageFiles({ cwd: workingFolder() });
  await files.add(flags.attach);
  await greet(talk, `${agent.id} (${agent.file} at ${client.url})`);
  return await held(client, {
    ...talk,
    flags: { ...flags, json: false, output: undefined },
    agent,
    session,
    first: "start",
    lines: conversationLines({ ...talk, session, typist, isKept: true, files, there: client.flag }),
    isTyped: typist !== undefined,
    isChat: true,
  });
}

/** `orrery run FILE.agent.yml --server URL`: begins a conversation, says what `--say` says, and leaves it where it waits. */
export async function runAgentThere(
  word: string,
  { client, flags, terminal }: {
    readonly client: ServerClient;
    readonly flags: ParsedCommand<typeof COMMANDS.run>["flags"];
    readonly terminal: Terminal;
  },
): Promise<number> {
  const stop = interruptible(terminal);
  const agent = await agentThere(word, { client, terminal });
  if (agent === undefined) return EXIT.usage;
  const view = await chooseView(terminal, { flags, file: word, shownText: "none" });
  const user = await userBehind(view, { terminal, isQuiet: flags.quiet, usesStdin: false });
  const wish = wishOf(word, flags, { ask: user.canAnswer, command: "run" });
  const session = new TalkThere({ client, view, user, wish, withSteps: flags.json });
  return await held(client, { ...saying(flags.say), terminal, flags, view, stop, agent, session });
}

/** The agent of a file there; undefined when it cannot be read, which is told. @throws {FileError} */
async function agentThere(
  word: string,
  { client, terminal }: { readonly client: ServerClient; readonly terminal: Terminal },
): Promise<AgentFile | undefined> {
  const { file, text, project } = await fileThere(client, word);
  return await tellingProblems(text, { file, project, terminal });
}

/** What begins it. @throws {UsageError} that names the flag */
function wishOf(
  word: string,
  flags: ConversationFlags,
  { ask, command }: { readonly ask: boolean; readonly command: "run" | "chat" },
) {
  const { user, module, session, model, effort } = flags;
  const budget = budgetOf(flags.budget, { command });
  return {
    agent: pathThere(word),
    slots: slotsOf(flags.slot, command),
    user,
    module,
    session,
    model,
    effort,
    budget,
    ask,
  };
}

/** Talks to its end. */
async function held(
  client: ServerClient,
  work: Omit<ConversationWork, "place" | "isKept" | "there">,
): Promise<number> {
  const cwd = workingFolder();
  try {
    return await holdConversation({ ...work, place: { root: cwd, cwd }, isKept: true, there: client.flag });
  } catch (error) {
    return await toldProblems(error, work.terminal);
  }
}

/** `orrery resume ID --server URL` of a conversation: an answer that was interrupted is finished first. */
export async function resumeTalkThere(
  id: string,
  { client, flags, terminal }: {
    readonly client: ServerClient;
    readonly flags: ParsedCommand<typeof COMMANDS.resume>["flags"];
    readonly terminal: Terminal;
  },
): Promise<number> {
  if (flags.budget.length > 0) {
    throw new UsageError(
      "--budget and --server do not go together for a conversation: it has the budget that it began with",
      "resume",
    );
  }
  const [state, trace] = [await client.talk(id), await client.trace(id)];
  if (state.status === "completed") {
    throw new RunEndedError(
      `This conversation has ended. Start a new one; all of it: orrery show conversation ${id} ${client.flag}`,
    );
  }
  if (state.status === "running") {
    throw new RunOwnedError("The agent is still answering; try again when it is done.");
  }
  const agent = await agentThere(state.agent, { client, terminal });
  if (agent === undefined) return EXIT.usage;
  const talk = beginTalk(terminal, flags, agent);
  const { view, stop } = talk;
  const typist = !flags.json && flags.output === undefined ? await typistOf(terminal) : undefined;
  const turn = () => stop.turn;
  const user = await userBehind(view, { terminal, isQuiet: flags.quiet, usesStdin: false, typist, turn });
  const session = new TalkThere({ client, view, user, state, trace, withSteps: flags.json });
  if (session.isInterrupted) {
    const asked = flags.quiet ? nobody : typist ?? await terminal.user();
    const left = await session.settle({ user: asked, decisions: flags });
    if (left.length > 0) {
      await terminal.stderr.write(unverifiedText(`${id} ${client.flag}`, left));
      return EXIT.failed;
    }
  }
  const { events } = trace;
  const turnEvents = events.slice(Math.max(0, events.findLastIndex(({ type }) => type === "run-start")));
  if (!flags.quiet) await terminal.stderr.write(printable(wordsSoFar(session, turnEvents, () => trace)));
  return await held(client, {
    ...talk,
    flags,
    agent,
    session,
    first: firstOf(session),
    heard: events.at(-1)?.seq ?? 0,
    lines: resumedLines({
      terminal,
      stop,
      session,
      typist,
      files: new MessageFiles({ cwd: workingFolder() }),
      there: client.flag,
    }),
    isTyped: typist !== undefined,
    isChat: true,
  });
}
