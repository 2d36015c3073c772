import { type FieldPath, type Place, readFrontMatter, splitFrontMatter } from "../parse/front_matter.ts";
import type { ProjectPlace } from "./project_file.ts";
import type { SourceFile } from "./source_files.ts";

/** The place of the key at a path. */
export type PlaceOf = (path: FieldPath) => Place;

/** Where the parts of a front matter stand: the file is read once more, since only a file with a mistake needs more than a few places. */
export async function writtenPlaces(
  { path }: SourceFile,
  { files }: Pick<ProjectPlace, "files">,
): Promise<PlaceOf> {
  const text = await files.readText(path).catch(() => ""); // it was there a moment ago
  const split = splitFrontMatter(text);
  const { placeOf } = await readFrontMatter("problem" in split ? undefined : split.yaml);
  return placeOf;
}
