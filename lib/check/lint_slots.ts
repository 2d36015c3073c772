import type { SlotPath } from "../parse/agent_file.ts";
import { nearestName, orMeant } from "../core/nearest.ts";
import { MOST_TOLD } from "../parse/check_fields.ts";
import type { AgentLook } from "./agent_look.ts";
import type { LintFinding } from "./lint_rule.ts";

/** A slot that is inserted or asked with, and that nothing fills. Slots that outlive a conversation may be filled by another. */
export function lintNeverSet({ agent, reads, writes }: AgentLook): readonly LintFinding[] {
  const set = new Set(writes.filter(({ slot }) => isOwn(slot)).map(({ slot }) => slot.name));
  const known = new Set([...set, ...Object.keys(agent.constants)]);
  const unknown = reads.filter(({ slot, by }) =>
    by !== "condition" && isOwn(slot) && !(by === "bare-placeholder" ? known : set).has(slot.name)
  );
  // Each is compared with all names.
  return unknown.slice(0, MOST_TOLD).map(({ slot, path, by }) => {
    const near = orMeant(nearestName(slot.name, by === "bare-placeholder" ? known : set));
    return { path, code: "W621", message: `nothing sets the slot ${slotWord(slot)}${near}` };
  });
}

/** A slot of the conversation that is filled for nothing. */
export function lintNeverRead(look: AgentLook): readonly LintFinding[] {
  const told = new Set<string>();
  return unread(look).flatMap(({ slot, path, by }): readonly LintFinding[] => {
    // What a validator says is taken by its success and fail.
    if (by?.kind === "validator" || by?.kind === "extractor" || told.has(slot.name)) return [];
    told.add(slot.name);
    return [{ path, code: "W622", message: `the slot ${slotWord(slot)} is filled and never read` }];
  });
}

/** What an extractor finds for nothing. */
export function lintNeverUsed(look: AgentLook): readonly LintFinding[] {
  return unread(look).flatMap(({ slot, path, by }): readonly LintFinding[] =>
    by?.kind === "extractor"
      ? [{ path, code: "W623", message: `what is found for ${slotWord(slot)} is never used` }]
      : []
  );
}

function unread({ reads, writes }: AgentLook): AgentLook["writes"] {
  const read = new Set(reads.filter(({ slot }) => isOwn(slot)).map(({ slot }) => slot.name));
  return writes.filter(({ slot }) => isOwn(slot) && !read.has(slot.name));
}

function isOwn({ destination }: SlotPath): boolean {
  return destination === "conversation";
}

/** `"conversation.name"` */
export function slotWord({ destination, name }: SlotPath): string {
  return JSON.stringify(`${destination}.${name}`);
}
