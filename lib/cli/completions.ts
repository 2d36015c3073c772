import type { Terminal } from "../host/terminal.ts";
import { bashCompletions } from "./completions_bash.ts";
import { fishCompletions } from "./completions_fish.ts";
import { powershellCompletions } from "./completions_powershell.ts";
import { zshCompletions } from "./completions_zsh.ts";
import { EXIT } from "../service/exit_code.ts";
import type { COMMANDS, ParsedCommand } from "./flags.ts";

/** `orrery completions SHELL`. */
export async function completions(
  { words }: ParsedCommand<typeof COMMANDS.completions>,
  terminal: Terminal,
): Promise<number> {
  await terminal.stdout.write(scriptFor(words[0] ?? ""));
  return EXIT.ok;
}

function scriptFor(shell: string): string {
  if (shell === "zsh") return zshCompletions();
  if (shell === "fish") return fishCompletions();
  return shell === "powershell" ? powershellCompletions() : bashCompletions();
}
