import { denoGrants } from "./process.ts";

/**
 * Bytes of memory that belong to a process alone, without the program's own file, of which all processes share one copy. Undefined
 * where nobody can tell: only Linux says it, and only to a process with all of Deno's permissions.
 */
export function ownMemoryOf(pid: number): number | undefined {
  const path = `/proc/${pid}/status`;
  if (Deno.build.os !== "linux" || !denoGrants({ name: "read", path })) return undefined;
  try {
    const kilobytes = /^RssAnon:\s*(\d+) kB$/m.exec(Deno.readTextFileSync(path))?.[1];
    return kilobytes === undefined ? undefined : Number(kilobytes) * 1024;
  } catch {
    return undefined; // it has ended, or all of /proc is closed
  }
}
