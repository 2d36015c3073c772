/** The text of a file of the program itself, which a compiled one has inside. @returns undefined when it is not there */
export async function maybeOwnFile(url: URL): Promise<string | undefined> {
  try {
    return await Deno.readTextFile(url);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory) return undefined;
    throw error;
  }
}

/** The names of the files of a folder of the program itself, in order. */
export async function ownFiles(folder: URL): Promise<readonly string[]> {
  const names: string[] = [];
  for await (const { name, isFile } of Deno.readDir(folder)) {
    if (isFile) names.push(name);
  }
  return names.sort();
}
