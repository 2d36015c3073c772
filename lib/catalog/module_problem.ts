import { relative, sep } from "node:path";
import type { LineProblem } from "../parse/front_matter.ts";
import { isInside, projectPath } from "./project_path.ts";
import { thrownWords } from "./thrown_words.ts";

/**
 * Why a module of a project could not be loaded: the line of its own that leads to the error, and in the message the place of the
 * throw when that is in another file of the project.
 */
export function moduleProblem(
  thrown: unknown,
  { path, root }: { readonly path: string; readonly root: string },
): LineProblem {
  const shown = (file: string) => isInside(file, root) ? projectPath(file, root) : undefined;
  const { message, places } = thrownWords(thrown, shown);
  const inside = places.filter((place) => isInside(place.path, root));
  const [first] = inside;
  // A module that is at hand without a file has its source elsewhere, under the same path.
  const way = `${sep}${relative(root, path)}`;
  const own = inside.find((place) => place.path === path) ?? places.find((place) => place.path.endsWith(way));
  const elsewhere = first === undefined || first.path === path
    ? ""
    : ` (at ${projectPath(first.path, root)}:${first.line}:${first.column})`;
  return { line: own?.line ?? 1, message: `${message}${elsewhere}` };
}
