// The processes that a program starts, as /proc tells of them; elsewhere than on Linux nothing is known of them.

const POLL_MS = 40;

/** One process; `since` tells it from a later one of the same number. */
interface Seen {
  readonly since: string;
  peakKb: number;
}

interface ProcessStat {
  readonly pid: number;
  readonly parent: number;
  readonly state: string;
  readonly since: string;
}

/** Every process of this machine that can be looked at. */
function processes(): readonly ProcessStat[] {
  const found: ProcessStat[] = [];
  for (const { name } of Deno.readDirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const stat = maybeRead(`/proc/${name}/stat`);
    if (stat === undefined) continue;
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" "); // from the third field of proc(5) on
    found.push({
      pid: Number(name),
      parent: Number(fields[1]),
      state: fields[0] ?? "",
      since: fields[19] ?? "",
    });
  }
  return found;
}

function maybeRead(path: string): string | undefined {
  try {
    return Deno.readTextFileSync(path);
  } catch {
    return undefined; // it has ended
  }
}

/** Whether anything can be known here. */
export const knowsProcesses: boolean = Deno.build.os === "linux";

/** The numbers of the processes that this one started, and those started. */
export function descendantsOf(pid: number): readonly number[] {
  if (!knowsProcesses) return [];
  const all = processes();
  const found = new Set([pid]);
  for (let before = 0; before !== found.size;) {
    before = found.size;
    for (const each of all) if (found.has(each.parent)) found.add(each.pid);
  }
  found.delete(pid);
  return [...found];
}

/** What a process holds, in kB, shared pages by their share (`Pss`) or whole (`Rss`). 0: it has ended. */
export function memoryKb(pid: number, kind: "Pss" | "Rss"): number {
  const text = maybeRead(`/proc/${pid}/smaps_rollup`) ?? "";
  return Number(new RegExp(`^${kind}:\\s+(\\d+) kB`, "m").exec(text)?.[1] ?? 0);
}

function residentKb(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(maybeRead(`/proc/${pid}/status`) ?? "")?.[1] ?? 0);
}

/** Follows a process and all it starts, until `stop`. */
export class ProcessWatch {
  readonly #pid: number;
  readonly #children = new Map<number, Seen>();
  readonly #timer: ReturnType<typeof setInterval>;
  #ownPeakKb = 0;

  constructor(pid: number) {
    this.#pid = pid;
    this.#timer = setInterval(() => this.look(), POLL_MS);
    this.look();
  }

  /** Looks now, besides every 40 ms. */
  look(): void {
    if (!knowsProcesses) return;
    this.#ownPeakKb = Math.max(this.#ownPeakKb, residentKb(this.#pid));
    const byPid = new Map(processes().map((each) => [each.pid, each]));
    for (const pid of descendantsOf(this.#pid)) {
      const since = byPid.get(pid)?.since;
      if (since === undefined) continue;
      const seen = this.#children.get(pid);
      const peakKb = Math.max(residentKb(pid), seen?.since === since ? seen.peakKb : 0);
      this.#children.set(pid, { since, peakKb });
    }
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** How many it has started. */
  get count(): number {
    return this.#children.size;
  }

  /** The most that the process itself held, in MB. */
  get ownPeakMb(): number {
    return this.#ownPeakKb / 1024;
  }

  /** The most that one of its children held, in MB. */
  get childPeakMb(): number {
    return Math.max(0, ...[...this.#children.values()].map(({ peakKb }) => peakKb)) / 1024;
  }

  /** Those of its children that live on after `withinMs`. */
  async left(withinMs = 1500): Promise<readonly number[]> {
    const deadline = performance.now() + withinMs;
    while (true) {
      const alive = this.#alive();
      if (alive.length === 0 || performance.now() > deadline) return alive;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  #alive(): readonly number[] {
    if (!knowsProcesses) return [];
    const now = processes().filter(({ state }) => state !== "Z" && state !== "X");
    return now.filter(({ pid, since }) => this.#children.get(pid)?.since === since).map(({ pid }) => pid);
  }
}
