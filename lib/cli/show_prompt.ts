import type { FoundTactic } from "../catalog/discover_tactics.ts";
import { workingFolder } from "../host/paths.ts";
import type { Terminal } from "../host/terminal.ts";
import { NO_POLICY_FLAGS } from "../policy/policy_settings.ts";
import type { PromptIndex } from "../project/prompt_index.ts";
import { runSecrets } from "../project/run_secrets.ts";
import { printable, printableLine } from "../render/shown_text.ts";
import { table } from "../render/table.ts";
import type { Tactic } from "../run/tactic.ts";
import { EXIT } from "../service/exit_code.ts";
import { findPrompt, typedProblems } from "../service/find_prompt.ts";
import type { COMMANDS, ParsedCommand } from "./flags.ts";
import { interruptible } from "./around_run.ts";
import { promptInput } from "../service/prompt_input.ts";
import { asNamed } from "../service/prompt_takes.ts";
import { promptJson } from "../service/prompt_json.ts";
import { promptPage } from "./prompt_page.ts";
import { promptTools } from "../service/prompt_tools.ts";
import { promptsHere } from "./prompts_here.ts";
import { stdinText } from "./stdin_text.ts";
import { typedValues } from "../service/typed_values.ts";

/** What the flags of the command say. */
export interface ShowOptions {
  readonly flags: ParsedCommand<typeof COMMANDS.show>["flags"];
  readonly terminal: Terminal;
}

/** `orrery show prompt PATH`: what is sent, and what its answer is held to. */
export async function showPrompt(path: string, { flags, terminal }: ShowOptions): Promise<number> {
  const stop = interruptible(terminal);
  const given = await promptInput(flags, {
    cwd: workingFolder(),
    command: "show",
    stdin: () => stdinText(terminal, stop.signal),
  });
  if (stop.signal.aborted) return EXIT.interrupted;
  const { project, index } = await promptsHere({ flags, terminal });
  const problems = typedProblems([...index.problems, ...index.notLoaded], project);
  const found = findPrompt(path, { ...index, problems }, { command: "show" });
  const { mask, maskJson } = runSecrets({ config: project.config, settings: NO_POLICY_FLAGS });
  const write = async (json: unknown, page: () => string) =>
    await terminal.stdout.write(flags.json ? `${JSON.stringify(json, null, 2)}\n` : page());
  if (found.kind === "tactic") {
    const located = index.locatedTactics.get(found.tactic.name);
    if (located !== undefined) await write(tacticJson(located), () => tacticPage(located, index));
    return EXIT.ok;
  }
  const located = index.located.get(found.prompt.path);
  if (located !== undefined) {
    const options = { prompts: [found.prompt], located: index.located };
    const { values } = typedValues(asNamed(given, options), options);
    const tools = await promptTools(found.prompt, { project, flags });
    const json = await promptJson(located, { tools, values });
    await write(maskJson(json), () => mask(printable(promptPage(json))));
  }
  return EXIT.ok;
}

function tacticJson({ tactic: { kind, name, agents }, file, line }: FoundTactic<Tactic>) {
  return { kind, name, agents, file, line };
}

function tacticPage({ tactic, file, line }: FoundTactic<Tactic>, { profiles }: PromptIndex): string {
  const rows = tactic.agents.map((name) => {
    const profile = profiles.get(name);
    return [
      name,
      profile === undefined ? "not configured: agents: of orrery.yaml has no such entry" : profile.model,
    ]
      .map(printableLine);
  });
  const agents = rows.length === 0
    ? "Agents: none"
    : `Agents:\n${table(rows).map((row) => `  ${row}`).join("\n")}`;
  return `${printableLine(`${tactic.name}  (${file}:${line})`)}\n\nA tactic.\n\n${agents}\n`;
}
