import { FileError } from "../core/world.ts";
import { hostFiles } from "../host/files.ts";

/** The text of a file that a flag names. @throws {FileError} that names the flag too */
export async function flagFile(
  file: string,
  { flag, cwd }: { readonly flag: string; readonly cwd: string },
): Promise<string> {
  if (file === "") {
    throw new FileError(`${flag} names no file: a name has to stand behind the @`, {
      path: file,
      code: "not-found",
    });
  }
  try {
    return await hostFiles({ root: cwd }).readText(file);
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    throw new FileError(`${error.message} (named by ${flag})`, {
      path: file,
      code: error.code,
      cause: error,
    });
  }
}
