import { dirname, join } from "../core/path.ts";
import { fileProblem } from "../core/file_problem.ts";
import { denoGrants } from "./deno_grants.ts";
import { readable, withoutDeno } from "./file_attempt.ts";
import { realPath } from "./paths.ts";

/** Writes a file whole or not at all: beside the target, then renamed. A link stays; what it leads to is written. */
export async function writeWhole(
  options: { path: string; target: string; text: string; mode: number | undefined },
): Promise<void> {
  const { path, text } = options;
  const target = realPath(readable("write", path, options.target));
  const folder = dirname(target);
  if (!denoGrants({ name: "write", path: folder })) {
    // The folder, because the new text is written beside the file before it takes its place.
    throw withoutDeno(path, { action: "write", flag: `--allow-write=${folder}` });
  }
  const present = await Deno.stat(target).catch(() => undefined);
  if (present !== undefined) refuseUnwritable(path, present);
  await makeFolder(folder, options.mode);
  const presentMode = present?.mode ?? undefined;
  const mode = options.mode ?? (presentMode === undefined ? undefined : presentMode & 0o7777);
  await replaceFile(target, { text, mode });
}

function refuseUnwritable(path: string, info: Deno.FileInfo): void {
  if (!info.isFile) {
    throw fileProblem(path, { action: "write", code: info.isDirectory ? "is-folder" : "other" });
  }
  if (info.mode !== null && (info.mode & 0o222) === 0) {
    throw fileProblem(path, { action: "write", code: "denied", reason: "the file is marked read-only" });
  }
}

async function makeFolder(folder: string, fileMode: number | undefined): Promise<void> {
  try {
    await Deno.mkdir(folder, { recursive: true, ...(fileMode !== undefined && { mode: 0o700 }) });
  } catch (error) {
    if (error instanceof Deno.errors.AlreadyExists) throw new Deno.errors.NotADirectory("", { cause: error });
    throw error;
  }
}

async function replaceFile(
  target: string,
  options: { text: string; mode: number | undefined },
): Promise<void> {
  const temporary = join(dirname(target), `.orrery-${crypto.randomUUID()}.tmp`);
  try {
    await writeThrough(temporary, options);
    // Again, because the process's own mask took bits away when the file was made.
    if (options.mode !== undefined && Deno.build.os !== "windows") await Deno.chmod(temporary, options.mode);
    await Deno.rename(temporary, target);
  } catch (error) {
    await Deno.remove(temporary).catch(() => {});
    throw error;
  }
}

/** Writes a new file and waits until it is on the disk: a rename may otherwise outlive a power cut that the text does not. */
async function writeThrough(
  path: string,
  options: { text: string; mode: number | undefined },
): Promise<void> {
  const { text, mode } = options;
  using file = await Deno.open(path, { write: true, createNew: true, ...(mode !== undefined && { mode }) });
  const bytes = new TextEncoder().encode(text);
  for (let written = 0; written < bytes.length;) written += await file.write(bytes.subarray(written));
  await file.sync();
}
