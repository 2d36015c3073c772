/** The text of a file of the program itself, which a compiled one has inside. @returns undefined when it is not there */
export async function maybeOwnFile(url: URL): Promise<string | undefined> {
  try {
    return await Deno.readTextFile(url);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory) return undefined;
    throw error;
  }
}

/** The files of a folder of the program itself and of the folders in it, as paths from it, in order. */
export async function ownFiles(folder: URL): Promise<readonly string[]> {
  const paths: string[] = [];
  for await (const { name, isFile, isDirectory } of Deno.readDir(folder)) {
    if (isFile) paths.push(name);
    if (isDirectory) {
      const below = await ownFiles(new URL(`${name}/`, folder));
      paths.push(...below.map((path) => `${name}/${path}`));
    }
  }
  return paths.sort();
}
