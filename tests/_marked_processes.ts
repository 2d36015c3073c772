// Processes that belong to a test: they run in a folder that only it knows, or name it in their command or their environment.

const EVERY_MS = 25;

/** Whether it can be seen here which processes there are. */
export const seesProcesses = Deno.build.os === "linux";

/** The numbers of the processes that have to do with a folder, but for this one. */
export function markedProcesses(folder: string): readonly number[] {
  return [...Deno.readDirSync("/proc")].flatMap(({ name }) => {
    const pid = Number(name);
    return Number.isInteger(pid) && pid !== Deno.pid && isMarked(pid, folder) ? [pid] : [];
  });
}

function isMarked(pid: number, folder: string): boolean {
  const texts = [
    () => Deno.readLinkSync(`/proc/${pid}/cwd`),
    () => Deno.readTextFileSync(`/proc/${pid}/cmdline`),
    () => Deno.readTextFileSync(`/proc/${pid}/environ`),
  ];
  return texts.some((read) => {
    try {
      return read().includes(folder);
    } catch {
      return false; // it has ended
    }
  });
}

/** Those that are there still when this time is over, but for `known`. */
export async function leftProcesses(
  folder: string,
  withinMs: number,
  known: readonly number[] = [],
): Promise<readonly string[]> {
  const others = () => markedProcesses(folder).filter((pid) => !known.includes(pid));
  for (let left = withinMs; left > 0; left -= EVERY_MS) {
    if (others().length === 0) return [];
    await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
  }
  return others().map(commandOf);
}

function commandOf(pid: number): string {
  try {
    return `${pid}: ${Deno.readTextFileSync(`/proc/${pid}/cmdline`).replaceAll("\0", " ")}`;
  } catch {
    return `${pid}`;
  }
}
