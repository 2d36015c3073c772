// What bash does at a Tab, with the script of `orrery completions bash`.

import { orrery, orreryCommand, runProgram } from "./_run.ts";
import type { RunResult } from "./_run.ts";

/**
 * What is offered at the end of each line, given as words: a line of stdout for each, every offer followed by `|`. The words are cut at
 * COMP_WORDBREAKS, which holds "=". Undefined, after saying so, where bash is not installed.
 */
export async function bashCompletions(
  lines: readonly (readonly string[])[],
  options: { readonly cwd: string; readonly env?: Readonly<Record<string, string>> },
): Promise<RunResult | undefined> {
  const bash = await runProgram(["bash", "--version"]).catch(() => undefined);
  if (bash === undefined) {
    console.log("not run here: bash is not installed");
    return undefined;
  }
  const { stdout: script } = await orrery(["completions", "bash"]);
  const test = [
    script,
    `orrery() { ${orreryCommand().map((word) => `'${word}'`).join(" ")} "$@"; }`,
    ...lines.map((words) =>
      `COMP_WORDS=(${words.map((word) => `'${word}'`).join(" ")}); COMP_CWORD=${
        words.length - 1
      }; COMPREPLY=(); _orrery; printf '%s|' "\${COMPREPLY[@]}"; echo`
    ),
  ];
  return await runProgram(["bash", "-c", test.join("\n")], options);
}
