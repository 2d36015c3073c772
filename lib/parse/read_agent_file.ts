import { sha256 } from "../core/sha256.ts";
import type { AgentFile } from "./agent_file.ts";
import { AgentPart } from "./agent_part.ts";
import type { AgentProblem } from "./agent_problem.ts";
import { AgentReading } from "./agent_reading.ts";
import { checkAgentReferences } from "./agent_references.ts";
import { AGENT_ROOT } from "./agent_root.ts";
import { readAgentYaml } from "./agent_yaml.ts";

/** What was read of an agent file. */
export interface ReadAgentFile {
  /** Undefined when there is an error. */
  readonly agent: AgentFile | undefined;
  /** Errors, and warnings about what is deprecated, in the order of the text. */
  readonly problems: readonly AgentProblem[];
}

/** Reads a `*.agent.yml` file (conversations.md 1) and tells everything that is wrong with it. @param options `file`: its name in messages */
export async function readAgentFile(
  text: string,
  { file }: { readonly file: string },
): Promise<ReadAgentFile> {
  const yaml = await readAgentYaml(text);
  const reading = new AgentReading(yaml, file);
  if (yaml.isLost) return { agent: undefined, problems: reading.problems };
  const structure = AGENT_ROOT.read(new AgentPart(yaml.value, [], reading));
  checkAgentReferences(structure, reading);
  const agent = reading.isSound ? { file, text, hash: sha256(text), ...structure } : undefined;
  return { agent, problems: reading.problems };
}
