import type { AgentFile } from "../parse/agent_file.ts";
import { agentTree } from "../parse/agent_tree.ts";
import { longText } from "../render/shown_text.ts";

/** What the operator is told of a turn that failed, with the place of its step (conversations.md 2.12): `support.agent.yml:12:7: error: …`. */
export function failedTurnText({ file, root }: AgentFile, error: string): string {
  const [, id = ""] = /^step "([^"]+)": /.exec(error) ?? [];
  const { line, column } = agentTree(root).find(id)?.span ?? {};
  const place = line === undefined ? file : `${file}:${line}:${column}`;
  return `${place}: error: ${longText(error)}\n`;
}
