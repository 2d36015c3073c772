import { denoGrants, hostEnv } from "../process.ts";

/** Less leaves the screen as it is, shows colours, and ends by itself at the end of what fits. */
const LESS = "-FRX";

/**
 * Shows a text through `$PAGER`, less where that is not set, and waits until whoever reads it has done.
 *
 * @returns false when there is no such program, or the variable is empty or says `cat`: then nothing was shown
 */
export async function paged(text: string): Promise<boolean> {
  const pager = hostEnv("PAGER") ?? "less";
  if (["", "cat"].includes(pager.trim()) || Deno.build.os === "windows") return false;
  if (!denoGrants({ name: "run", command: "sh" })) return false;
  const ignore = () => {}; // Ctrl-C is the pager's
  Deno.addSignalListener("SIGINT", ignore);
  try {
    const child = new Deno.Command("sh", {
      args: ["-c", pager],
      env: { LESS: hostEnv("LESS") ?? LESS },
      stdin: "piped",
    }).spawn();
    const writer = child.stdin.getWriter();
    await writer.write(new TextEncoder().encode(text)).then(() => writer.close()).catch(() => {}); // it may end before the end
    return (await child.status).code !== 127;
  } finally {
    Deno.removeSignalListener("SIGINT", ignore);
  }
}
