import type { RunJournal } from "../core/journal.ts";
import { FileError } from "../core/world.ts";
import { hostFiles } from "../host/files.ts";
import { workingFolder } from "../host/paths.ts";
import type { Terminal } from "../host/terminal.ts";
import type { TerminalUser } from "../host/terminal_user.ts";
import { openSettings } from "../project/project.ts";
import { printable } from "../render/printable.ts";
import { aroundRun } from "./around_run.ts";
import type { AroundRun, AroundRunOptions } from "./around_run.ts";
import { inputOf, replayedInput, replayedModel } from "./ask.ts";
import { budgetOf } from "./budget_flag.ts";
import { ChatStop } from "./chat_stop.ts";
import { openDialogCatalog } from "./dialog_catalog.ts";
import { dialogInput, dialogJson } from "./dialog_input.ts";
import type { DialogInput } from "./dialog_input.ts";
import { findModel, wantedModel } from "./dialog_model.ts";
import { EXIT } from "./exit_code.ts";
import type { COMMANDS, ParsedCommand } from "./flags.ts";
import { grantsOf } from "./grants.ts";
import { openReplay } from "./open_replay.ts";
import { plainView } from "./plain_view.ts";
import type { Going } from "./resume.ts";
import { performChat } from "./run_chat.ts";
import type { RunView } from "./run_view.ts";
import { typistAt } from "./user_behind.ts";
import { wholeServers } from "./whole_servers.ts";

type ChatCommand = ParsedCommand<typeof COMMANDS.chat>;

/** `orrery chat`: talks with a model; gives the exit code. */
export async function chat({ flags }: ChatCommand, terminal: Terminal): Promise<number> {
  const cwd = workingFolder();
  const grants = grantsOf(flags);
  const budget = budgetOf(flags.budget, { command: "chat" });
  const { view, stop } = beginTalk(terminal, flags);
  if (flags.replay !== undefined) {
    const { replay } = await openReplay(flags.replay, { cwd, kind: "chat" });
    const recorded = dialogInput(replay.run.input);
    const input = { ...recorded, ...replayedInput(recorded, flags) };
    const catalog = { entries: [], maybeFind: () => undefined };
    const model = replayedModel(input);
    return await performChat({
      terminal,
      flags,
      cwd,
      view,
      stop,
      input,
      model,
      catalog,
      replay,
      kept: undefined,
    });
  }
  const project = await openSettings(cwd, { cwd });
  const typist = await maybeTypist(terminal);
  await using around = await aroundTalk({ terminal, flags, view, stop, typist });
  const { tools } = flags;
  const opened = await around.open(openDialogCatalog(project, { ...grants, ...around.opening, tools }));
  if (opened === undefined) return EXIT.interrupted;
  const name = wantedModel(flags.model);
  const place = { ...project, isAccepted: opened.projectAccepted, settings: grants.settings };
  const model = await findModel({ ...place, name });
  const system = await systemText(flags.system, project.root);
  const input: DialogInput = {
    ...inputOf(flags, { project, budget, name, model }),
    tools: wholeServers(tools, opened.catalog.entries),
    ...(system === "" ? {} : { system }),
  };
  const { createRun }: typeof import("../project/open_run.ts") = await import(
    "../project/open_run.ts" as string
  );
  const start = { kind: "chat", input: dialogJson(input) };
  const kept = await createRun(start, { ...project, grants, found: around.found }, flags);
  if (terminal.stdinIsTerminal && !flags.quiet) {
    await terminal.stderr.write(printable(`${model.id}; /help shows what there is, Ctrl-D ends\n`));
  }
  const { approvals } = around;
  return await performChat({
    ...opened,
    terminal,
    flags,
    cwd,
    view,
    stop,
    typist,
    input,
    model,
    kept,
    approvals,
  });
}

/** Goes on with a conversation: its messages so far are known to the model again, and the last ones are shown. */
export async function resumeChat(
  run: RunJournal,
  { here, grants, flags, terminal, kept }: Going,
): Promise<number> {
  const { view, stop } = beginTalk(terminal, flags);
  const { project, secrets } = here;
  const input = dialogInput(run.run.input);
  const { tools } = input;
  const typist = await maybeTypist(terminal);
  await using around = await aroundTalk({ terminal, flags, view, stop, typist, secrets });
  const opened = await around.open(openDialogCatalog(project, { ...grants, ...around.opening, tools }));
  if (opened === undefined) return EXIT.interrupted;
  const place = { ...project, isAccepted: opened.projectAccepted, settings: grants.settings };
  const model = await findModel({ ...place, name: input.model });
  if (!flags.quiet) await terminal.stderr.write(printable(lastWords(run, here)));
  const { cwd } = project;
  const { approvals } = around;
  return await performChat({
    ...opened,
    terminal,
    flags,
    cwd,
    view,
    stop,
    typist,
    input,
    model,
    kept,
    approvals,
  });
}

function beginTalk(
  terminal: Terminal,
  flags: { readonly quiet: boolean },
): { readonly view: RunView; readonly stop: ChatStop } {
  const view = plainView(terminal.stderr, { file: "chat", quiet: flags.quiet, shownText: "none" });
  return { view, stop: new ChatStop(terminal, (text) => void terminal.stderr.write(`\n${text}\n`)) };
}

async function maybeTypist(terminal: Terminal): Promise<TerminalUser | undefined> {
  return terminal.stdinIsTerminal ? await typistAt(terminal) : undefined;
}

/** What a server says while somebody types would stand in the middle of their line. */
async function aroundTalk(
  { terminal, flags, view, stop, typist, secrets }: {
    readonly terminal: Terminal;
    readonly flags: { readonly quiet: boolean };
    readonly view: RunView;
    readonly stop: ChatStop;
    readonly typist: TerminalUser | undefined;
    readonly secrets?: AroundRunOptions["secrets"];
  },
): Promise<AroundRun> {
  const seen: RunView = typist === undefined ? view : { ...view, log: () => Promise.resolve() };
  return await aroundRun(seen, {
    terminal,
    stop,
    isQuiet: flags.quiet,
    usesStdin: false,
    typist,
    turn: () => stop.turn,
    ...(secrets && { secrets }),
  });
}

/** `AGENTS.md` of the project root is what its people want every model to know (cli.md). */
async function systemText(flag: string | undefined, root: string): Promise<string> {
  const agents = await hostFiles({ root }).readText("AGENTS.md").catch((error) => {
    if (error instanceof FileError) return "";
    throw error;
  });
  return [flag ?? "", agents.trim()].filter((text) => text !== "").join("\n\n");
}

function lastWords(run: RunJournal, { journal }: Going["here"]): string {
  const said = journal.read(run.id).steps.flatMap(({ kind, outcome }) =>
    kind === "ask" && outcome !== undefined && "ok" in outcome ? [outcome.ok] : []
  );
  const answer = run.events.findLast((event) => event.type === "message");
  const question = said.at(-1);
  if (typeof question !== "string") return "";
  const text = answer?.type === "message" ? `${answer.text}\n` : "";
  return `${said.length} ${
    said.length === 1 ? "message" : "messages"
  } so far; the last:\n> ${question}\n${text}`;
}
