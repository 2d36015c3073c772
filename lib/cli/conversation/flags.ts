import { SLOT } from "../../service/talks/open.ts";
import { resolve } from "node:path";
import { effortFrom, type JsonObject } from "../../core/core.ts";
import type { ProjectSettings } from "../../project/project.ts";
import { UsageError } from "../../service/exit_code.ts";
import { budgetOf, budgetWithin, limitsOf } from "../../service/input/budget.ts";
import { moduleChoice } from "../../service/input/module_choice.ts";
import { contextFile } from "../../service/input/context_file.ts";
import type { ConversationInput } from "../../service/talks/agent.ts";
import type { COMMANDS, ParsedCommand } from "../flags/flags.ts";
import { wantedModel } from "../../host/process.ts";

/** The flags that say how a conversation is held. */
export type ConversationFlags = Pick<
  ParsedCommand<typeof COMMANDS.chat>["flags"],
  | "user"
  | "module"
  | "session"
  | "context"
  | "collection"
  | "slot"
  | "model"
  | "effort"
  | "budget"
  | "concurrency"
  | "timeout"
>;

/** Where a conversation is begun. */
export interface ConversationFlagsOptions {
  /** Of the agent: the session without a flag. */
  readonly agent: string;
  readonly project: ProjectSettings;
  readonly command: "run" | "chat";
}

/** What the flags say of a conversation. @throws {UsageError}, {FileError}, {ProblemsError}, which name the flag or the file */
export async function conversationOfFlags(
  flags: ConversationFlags,
  { agent, project, command }: ConversationFlagsOptions,
): Promise<ConversationInput> {
  const { cwd, config } = project;
  const budget = budgetWithin(config.limits, budgetOf(flags.budget, { command }));
  const given = slotsOf(flags.slot, command);
  const context = flags.context === undefined ? {} : await contextFile(flags.context, { cwd });
  const { module, context: ofModule, ...ofFile } = await moduleChoice(flags, { cwd, command });
  const collection = flags.collection === undefined
    ? config.conversations.collection
    : resolve(cwd, flags.collection);
  const model = wantedModel(flags.model);
  return {
    scope: { user: flags.user ?? "local", module, session: flags.session ?? agent },
    context: { ...context, ...ofModule },
    given,
    budget,
    limits: limitsOf(project, flags),
    model,
    effort: effortFrom(flags.effort),
    collection,
    ...ofFile,
  };
}

/** `--slot NAME=VALUE`: text; of the same name the last one counts. */
export function slotsOf(given: readonly string[], command: string): JsonObject {
  const problems: string[] = [];
  const slots = new Map<string, string>();
  for (const text of given) {
    const at = text.indexOf("=");
    const name = text.slice(0, Math.max(0, at));
    if (SLOT.test(name)) slots.set(name.replace(/^conversation\./, ""), text.slice(at + 1));
    else problems.push(`--slot ${text}: ${SLOT_FORM}`);
  }
  if (problems.length > 0) throw new UsageError(problems, command);
  return Object.fromEntries(slots);
}

const SLOT_FORM =
  "expected NAME=VALUE; a NAME has letters, digits, _ and -, and may have session., module. or global. before it";
