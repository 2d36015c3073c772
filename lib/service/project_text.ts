import type { AnyPrompt } from "../prompt/prompt.ts";
import type { AgentDefinition } from "../run/make_agent.ts";
import { agentsText } from "./agents_text.ts";

/**
 * An agent that is told what the people of the project want every model to know: where a conversation is held, and where the prompt asks
 * for it with `metadata: { context: project }` (cli.md).
 */
export async function withProjectText(
  agent: AgentDefinition,
  { prompt, root, isTalk = false }: {
    readonly prompt: Pick<AnyPrompt, "metadata">;
    readonly root: string;
    readonly isTalk?: boolean;
  },
): Promise<AgentDefinition> {
  const isWanted = isTalk || prompt.metadata.context === "project";
  return isWanted ? { ...agent, addedText: await agentsText(root) } : agent;
}
