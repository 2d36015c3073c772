import type { Rule } from "./problem_rules.ts";

/** What the problems of agent files are about (conversations.md 2.12, 2.13): codes from 620 on are of what is likely not meant. */
export const AGENT_RULES: readonly Rule[] = [
  agent("600", "agent", "A value in an agent file is not what it has to be."),
  agent("601", "agent-yaml", "An agent file is no YAML, or not one document."),
  agent("602", "agent-unknown-key", "A mapping of an agent file has no such key."),
  agent("603", "agent-missing-key", "A mapping of an agent file lacks a key."),
  agent("604", "agent-repeated-id", "Two steps have the same id."),
  agent(
    "605",
    "agent-reference",
    "A jump or a prompt names something that is not there, or cannot be used so.",
  ),
  agent(
    "606",
    "agent-unquoted-template",
    "A placeholder stands without quotes: YAML takes it for a mapping.",
  ),
  agent("607", "agent-json-path", "A JSONPath cannot be read."),
  agent("620", "agent-placeholder", "What looks like a placeholder stays as it is."),
  agent("621", "agent-never-set", "A slot is used, and nothing sets it."),
  agent("622", "agent-never-read", "A slot is filled, and nothing reads it."),
  agent("623", "agent-never-used", "What an extractor finds is never used."),
  agent("624", "agent-unknown-memory", "A memory names a step that is not there."),
  agent("625", "agent-environment", "The environment is named where it is not inserted."),
  agent("626", "agent-deprecated", "A key is deprecated."),
  agent("627", "agent-unreachable", "A step is never reached."),
  agent("628", "agent-endless-loop", "A loop neither waits for the user nor ends."),
  agent("629", "agent-combined-hold", "A step waits for the user while others are done beside it."),
  agent("630", "agent-combined-writes", "Two branches of a combined step write the same slot."),
  agent("631", "agent-not-equals", "A condition holds for a slot that may be missing."),
  agent("632", "agent-chain-condition", "A chain changes what its own condition asks for."),
  agent("633", "agent-no-memory", "A model does not see what the user has said."),
  agent("634", "agent-secret", "A secret seems to stand in an agent file."),
  agent("635", "agent-cut-value", "A comment cuts a value that is written without quotes."),
  agent("639", "agent-digits", "A number is taken as text, since it would lose digits."),
];

function agent(code: string, name: string, about: string): Rule {
  return { code, name, about, kind: "agent" };
}
