import { ProblemsError } from "../core/problems_error.ts";
import { messageOf } from "../core/source_error.ts";
import { FileError, PermissionRefused } from "../core/world.ts";
import { collectionSources } from "../project/collection_sources.ts";
import { fileProblem } from "../retrieval/index_documents.ts";
import type { CheckPlace } from "./check_places.ts";
import type { CheckReport } from "./check_report.ts";

/**
 * Tells what is wrong with a collection or a module, and which of its documents cannot be read; what is in them only a run looks at. Gives why
 * the file itself cannot be read.
 *
 * @param path absolute
 */
export async function checkCollection(
  path: string,
  { place: { project: { root, config }, world: { files } }, report }: {
    readonly place: Pick<CheckPlace, "project" | "world">;
    readonly report: CheckReport;
  },
): Promise<string | undefined> {
  const look = async (): Promise<void> => {
    const { collection } = config.conversations;
    const sources = await collectionSources(path, { root, files, collection });
    const found = await Promise.all(sources.map(async (document) => {
      try {
        await files.stat(document.path);
        return [];
      } catch (error) {
        if (!(error instanceof FileError)) throw error;
        return [fileProblem(document, error)];
      }
    }));
    const problems = found.flat();
    if (problems.length > 0) throw new ProblemsError(problems);
  };
  try {
    await report.unlessProblems(look(), [root], "collection");
    const text = await files.readText(path);
    report.file(path, text);
    await report.cutValues(text, { path, kind: "collection" });
    return undefined;
  } catch (error) {
    if (error instanceof FileError || error instanceof PermissionRefused) return messageOf(error);
    throw error;
  }
}
