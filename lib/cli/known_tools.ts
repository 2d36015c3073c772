import type { Catalog } from "../core/catalog.ts";
import { didYouMean } from "../core/nearest.ts";
import { UsageError } from "../service/exit_code.ts";

/** Finds out before a run whether there is a gadget for each name of `--tools`. @throws {UsageError} for every one that is unknown */
export function assertKnownTools(
  tools: readonly string[],
  { catalog, command }: { readonly catalog: Catalog; readonly command: string },
): void {
  const names = catalog.entries.map(({ name }) => name);
  const problems = tools.filter((name) => catalog.maybeFind(name) === undefined).map((name) =>
    `--tools: Unknown gadget ${JSON.stringify(name)}.${
      didYouMean(name, names)
    } orrery list gadgets shows what there is.`
  );
  if (problems.length > 0) throw new UsageError(problems, { command });
}
