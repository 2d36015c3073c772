/** A folder that goes away with all that is in it. */
export interface TemporaryFolder extends AsyncDisposable {
  /** Real and absolute. */
  readonly path: string;
}

/** Makes one. @throws {Deno.errors.NotCapable} without Deno's permission to write where temporary files are */
export async function temporaryFolder(): Promise<TemporaryFolder> {
  const path = await Deno.realPath(await Deno.makeTempDir({ prefix: "orrery-" }));
  return {
    path,
    [Symbol.asyncDispose]: async () => await Deno.remove(path, { recursive: true }).catch(() => undefined),
  };
}

/** Copies a file as it is, with the folders on its way. */
export async function copyFile(
  from: string,
  to: { readonly folder: string; readonly path: string },
): Promise<void> {
  const target = `${to.folder}/${to.path}`;
  await Deno.mkdir(target.slice(0, target.lastIndexOf("/")), { recursive: true });
  await Deno.copyFile(from, target);
}
