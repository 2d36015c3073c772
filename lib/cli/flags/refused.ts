import { UsageError } from "../../service/exit_code.ts";
import type { CommandSpec, Subject } from "./flag.ts";

/** @param also what else is wrong @throws {UsageError} with every flag that was typed and that the subject does not take */
export function refuseFlags(
  { name: command, flags }: CommandSpec,
  typed: Readonly<Record<string, unknown>>,
  subject: Subject,
  also: readonly string[] = [],
): void {
  const problems = flags.flatMap(({ name, not }) => {
    const why = isTyped(typed[name]) ? not?.[subject] : undefined;
    return why === undefined ? [] : [`--${name} ${why}`];
  });
  if (problems.length + also.length > 0) throw new UsageError([...problems, ...also], command);
}

function isTyped(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : value !== undefined && value !== false;
}
