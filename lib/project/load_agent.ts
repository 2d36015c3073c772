import { hostFiles } from "../host/files/files.ts";
import { workingFolder } from "../host/paths.ts";
import { type AgentFile, AgentFileError } from "../parse/agent/agent.ts";
import { readAgentFile } from "../parse/agent/read.ts";
import { rootFolder } from "./root_folder.ts";

/**
 * Reads an agent of conversations (conversations.md 1), as `openConversation` takes it.
 *
 * @param source a `*.agent.yml` file, as a path from the working folder or as a `file:` URL; or its text, with the name that messages give it
 * @throws {AgentFileError} with everything that is wrong with the file, {FileError} when it cannot be read
 *
 * ```ts
 * import { loadAgent } from "orrery";
 *
 * const text = `version: "0.1"
 * structure:
 *   id: hello
 *   action: { id: main, message: { message: "Hello!" } }
 * `;
 * const agent = await loadAgent({ file: "hello.agent.yml", text });
 * console.log(agent.id, agent.root.kind, agent.root.span.line); // => hello message 4
 * ```
 */
export async function loadAgent(
  source: string | URL | { readonly file: string; readonly text: string },
): Promise<AgentFile> {
  const { file, text } = typeof source === "string" || source instanceof URL ? await textOf(source) : source;
  const { agent, problems } = await readAgentFile(text, { file });
  if (agent === undefined) throw new AgentFileError(problems.filter(({ severity }) => severity === "error"));
  return agent;
}

async function textOf(source: string | URL): Promise<{ readonly file: string; readonly text: string }> {
  const path = rootFolder(source);
  const text = await hostFiles({ root: workingFolder() }).readText(path);
  return { file: typeof source === "string" ? source : path, text };
}
