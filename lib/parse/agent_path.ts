/** The way to a part of an agent file: keys, and numbers of items from 0. */
export type AgentPath = readonly (string | number)[];

const PLAIN_KEY = /^[^\s.[\]"]+$/;

/** `structure.action.chain[1].flow`; `file` for the whole file. */
export function agentPathText(path: AgentPath): string {
  const text = path.map((part) =>
    typeof part === "string" && PLAIN_KEY.test(part) ? `.${part}` : `[${JSON.stringify(part)}]`
  ).join("");
  return text === "" ? "file" : text.replace(/^\./, "");
}
