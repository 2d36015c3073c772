import { UsageError } from "../service/exit_code.ts";

/** Finds out whether a list is wanted in two forms. @throws {UsageError} */
export function checkOneForm(
  { json, names }: { readonly json: boolean; readonly names: boolean },
  command: string,
): void {
  if (!json || !names) return;
  throw new UsageError(["--json and --names cannot both have stdout; choose one"], { command });
}
