import { dirname, join } from "../core/path.ts";
import { FileError, type FileInfo } from "../core/world.ts";

/** How the search looks at the machine. */
export interface ProjectRootOptions {
  /** As `Files.stat`. */
  readonly stat: (path: string) => Promise<FileInfo>;
  /** The user's home folder: the search goes no further up. */
  readonly home?: string | undefined;
}

/**
 * The project root: the nearest folder with `orrery.yaml`, from `start` upwards; the search ends silently at the home folder,
 * at a folder with `.git`, and at one that may not be read, each of them looked at last. None: `start` (config.md).
 *
 * @param start absolute: the folder of the file that is run, or the working folder
 */
export async function findProjectRoot(start: string, options: ProjectRootOptions): Promise<string> {
  const { stat, home } = options;
  for (let folder = start;; folder = dirname(folder)) {
    const [config, git] = await Promise.all([
      look(join(folder, "orrery.yaml"), stat),
      look(join(folder, ".git"), stat),
    ]);
    if (config === "file" || config === "other") return folder;
    if (config === "closed" || folder === home || dirname(folder) === folder) return start;
    if (git !== "nothing") return start;
  }
}

async function look(
  path: string,
  stat: ProjectRootOptions["stat"],
): Promise<FileInfo["kind"] | "nothing" | "closed"> {
  try {
    return (await stat(path)).kind;
  } catch (error) {
    return error instanceof FileError && (error.code === "not-found" || error.code === "not-folder")
      ? "nothing"
      : "closed";
  }
}
