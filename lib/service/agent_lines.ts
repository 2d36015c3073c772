import type { AgentProblem } from "../parse/agent/agent.ts";
import { printable } from "../render/shown_text.ts";

/** A problem of an agent file, at its place. */
export type AgentLine = Omit<AgentProblem, "code">;

/** Problems as text, a line each: `support.agent.yml:12:7: error: structure.id: MESSAGE` (conversations.md 2.12), and what to do below it. */
export function agentLines(problems: readonly AgentLine[]): string {
  const lines = problems.flatMap(({ file, line, column, severity, path, message, hint }) => [
    `${file}:${line}:${column}: ${severity}: ${path}: ${oneLine(message)}`,
    ...(hint === undefined ? [] : [`  ${oneLine(hint)}`]),
  ]);
  return lines.map((text) => `${printable(text)}\n`).join("");
}

function oneLine(text: string): string {
  return text.replaceAll(/\s*\n\s*/g, " ");
}
