import { workingFolder } from "../../host/paths.ts";
import type { Terminal } from "../../host/terminal/terminal.ts";
import type { Kind } from "../../service/kinds/kind.ts";
import { calls } from "../../service/kinds/calls/calls.ts";
import { conversation } from "../../service/kinds/conversation/conversation.ts";
import { document } from "../../service/kinds/document/document.ts";
import { kindOfFile } from "../../service/kinds/kinds.ts";
import { prompt } from "../../service/kinds/prompt/prompt.ts";
import { budgetOf } from "../../service/input/budget.ts";
import { promptInput } from "../../service/input/prompt_input.ts";
import type { COMMANDS, ParsedCommand } from "../flags/flags.ts";
import { RUN } from "../flags/groups.ts";
import { refuseFlags } from "../flags/parse.ts";
import { interruptible, userBehind } from "../run/around.ts";
import { checkResultFile, checkStdout } from "../run/end.ts";
import { kindByName } from "../run/run.ts";
import { callText, otherKind, stdinText } from "../run/source.ts";
import { chooseView, viewOf } from "../run/view.ts";
import { runAgentThere } from "./chat.ts";
import { orNotThere, pathThere, toldProblems } from "./file.ts";
import { performThere, type WorkThere } from "./perform.ts";
import { serverOf } from "./server.ts";

type RunCommand = ParsedCommand<typeof COMMANDS.run>;
type RunFlags = RunCommand["flags"];

/** `orrery run FILE --server URL`: runs a file or a prompt of the server's project; gives the exit code. */
export async function run(
  { words: [word = ""], flags }: RunCommand,
  terminal: Terminal,
  kinds: readonly Kind[],
): Promise<number> {
  checkStdout(flags, "run");
  const client = serverOf(RUN, flags);
  await checkResultFile(flags.output, workingFolder());
  const kind: Kind = kindByName(word, kinds) ?? prompt;
  if (kind === calls && word !== "-" && kindOfFile(word, kinds) !== calls) throw otherKind(word, "run");
  refuseFlags(RUN, flags, kind.name, alsoRefused(kind, word, flags));
  if (kind === conversation) {
    return await runAgentThere(word, { client, flags, terminal });
  }
  const stop = interruptible(terminal);
  const file = word === "-" ? "stdin" : word;
  const isTyped = word === "-" && terminal.stdinIsTerminal;
  const view = isTyped
    ? await chooseView(terminal, { flags, file, isTyped })
    : await viewOf(kind.seen, terminal, { flags, file });
  const usesStdin = word === "-" || flags.input.includes("-");
  try {
    const user = await userBehind(view, { terminal, isQuiet: flags.quiet, usesStdin });
    const work = { client, terminal, flags, view, stop, user, file };
    if (word === "-") {
      if (isTyped) await view.notice("reading calls from the terminal; end with Ctrl-D");
      return await stdinThere(work);
    }
    const stdin = () => stdinText(terminal, stop.signal);
    const given = await promptInput(flags, { cwd: workingFolder(), command: "run", stdin });
    const asked = {
      model: flags.model,
      effort: flags.effort,
      budget: budgetOf(flags.budget, { command: "run" }),
      ask: user.canAnswer,
    };
    const texts = given.texts.size === 0 ? undefined : [...given.texts];
    const body = kind === prompt
      ? { path: pathThere(word), profile: flags.profile, input: given.values, texts, ...asked }
      : { file: pathThere(word), ...(kind === document && documentBody(flags, given.values)), ...asked };
    const started = await client.begin("/v1/runs", body).catch((error) => {
      throw kind === prompt ? error : orNotThere(error, word, client);
    });
    return await performThere(started, work);
  } catch (error) {
    if (kind !== document) throw error;
    return await toldProblems(error, terminal);
  } finally {
    await view.end();
  }
}

/** Calls are sent while they come. Where they cannot be read any further they break off, and the run there ends with them. */
async function stdinThere(work: WorkThere): Promise<number> {
  const { client, terminal, stop: { signal } } = work;
  const gone = new AbortController();
  let problem: unknown;
  async function* text(): AsyncGenerator<string> {
    try {
      yield* callText(terminal.stdinChunks({ signal }), "stdin");
    } catch (error) {
      problem = error;
      gone.abort(error);
      throw error;
    }
  }
  const code = await performThere(await client.calls(text(), gone.signal), work);
  if (problem !== undefined) throw problem;
  return code;
}

function alsoRefused(kind: Kind, word: string, { out, model, effort, budget }: RunFlags): readonly string[] {
  if (kind === document && out === "-") {
    return [
      "--out - and --server do not go together: the result document stays there; name a file of its project, or none",
    ];
  }
  if (word !== "-") return [];
  const given = Object.entries({ model, effort, budget: budget[0] }).flatMap(([name, value]) =>
    value === undefined ? [] : [`--${name}`]
  );
  return given.map((flag) =>
    `${flag} is not for calls on stdin with --server: the server takes their text alone`
  );
}

function documentBody({ prompt, block, mode, out = "beside" }: RunFlags, input: unknown) {
  return {
    input,
    prompt,
    blocks: block.length === 0 ? undefined : block,
    mode,
    out: out === "beside" || out === "none" ? out : pathThere(out),
  };
}
