// A folder that nobody else can look into, and that is gone when this process ends, in whatever order that happens. After a kill the next
// process that makes one takes it away.
import { dirname, join } from "../core/path.ts";
import { denoGrants } from "./deno_grants.ts";
import { isProcessAlive } from "./process_alive.ts";
import { atExit } from "./process.ts";

const PREFIX = "orrery-gadget-";
/** A process of another container may have left it, whose number says nothing here. */
const LEFT_BEHIND_MS = 3_600_000;

/** A folder of mode 0700 with files in it. */
export interface PrivateFolder extends Disposable {
  /** Real and absolute. */
  readonly path: string;
  /** Writes files of mode 0600. @param texts by plain file names */
  write(texts: Readonly<Record<string, string>>): void;
}

/** Makes one where temporary files are. @throws {Error} that says which permission of Deno is missing, or why it cannot be */
export function privateFolder(): PrivateFolder {
  const path = Deno.realPathSync(made());
  const remove = (): void => removeFolder(path);
  const exit = atExit(remove);
  globalThis.addEventListener("unload", remove); // a program that just comes to its end
  sweepOnce(dirname(path));
  return {
    path,
    write(texts) {
      for (const [name, text] of Object.entries(texts)) {
        Deno.writeTextFileSync(join(path, name), text, { createNew: true, mode: 0o600 });
      }
    },
    [Symbol.dispose]() {
      exit[Symbol.dispose]();
      globalThis.removeEventListener("unload", remove);
      remove();
    },
  };
}

function made(): string {
  try {
    return Deno.makeTempDirSync({ prefix: `${PREFIX}${Deno.pid}-` });
  } catch (cause) {
    if (!(cause instanceof Deno.errors.NotCapable)) throw cause;
    const reason = "Deno itself was started without --allow-write for the folder of temporary files";
    throw new Error(`Cannot start a gadget: ${reason}`, { cause });
  }
}

function removeFolder(path: string): void {
  try {
    Deno.removeSync(path, { recursive: true });
  } catch { /* it is gone, or nobody's to take away */ }
}

let isSwept = false;

/** What killed processes have left: seldom, and not waited for. */
function sweepOnce(parent: string): void {
  if (isSwept || !denoGrants({ name: "read" }) || !denoGrants({ name: "write" })) return;
  isSwept = true;
  sweep(parent).catch(() => undefined);
}

/** Takes away the folders of processes that have ended. */
export async function sweep(parent: string): Promise<void> {
  for await (const { name, isDirectory } of Deno.readDir(parent)) {
    const pid = new RegExp(`^${PREFIX}(\\d+)-`).exec(name)?.[1];
    if (!isDirectory || pid === undefined || isProcessAlive({ pid: Number(pid) }) !== false) continue;
    const path = join(parent, name);
    const { mtime } = await Deno.lstat(path);
    if (mtime !== null && Date.now() - mtime.getTime() < LEFT_BEHIND_MS) continue;
    await Deno.remove(path, { recursive: true }).catch(() => undefined);
  }
}
