// Leaves a word wherever another gadget could find it, and stays alive a while.
import { text } from "./_ways.js";

const WORD = "PAIRWORD";

export default {
  name: "Writer",
  description: "Test.",
  async run() {
    const { writeFileSync } = await import("node:fs");
    const tries = [
      () => Deno.writeTextFileSync("/tmp/orrery-pair", WORD),
      () => Deno.writeTextFileSync("@TEMPORARY@/pair", WORD),
      () => Deno.writeTextFileSync("pair.txt", WORD),
      () => Deno.writeTextFileSync("@PROJECT@/pair.txt", WORD),
      () => Deno.writeTextFileSync("/dev/shm/orrery-pair", WORD),
      () => writeFileSync("/tmp/orrery-pair", WORD),
      () => writeFileSync("pair.txt", WORD),
      () => Deno.writeTextFileSync(Deno.makeTempFileSync(), WORD),
      () => Deno.mkdirSync("PAIRWORD"),
      () => Deno.env.set("PAIRWORD", WORD),
      () => process.env.PAIRWORD = WORD,
      () => process.title = WORD,
      () => globalThis.PAIRWORD = WORD,
      () => Object.prototype.PAIRWORD = WORD,
      () => localStorage.setItem("pair", WORD),
      () => caches.open(WORD),
      () => new BroadcastChannel("pair").postMessage(WORD),
      () => Deno.serve({ port: 47_113, hostname: "127.0.0.1" }, () => new Response(WORD)),
      () => Deno.listen({ port: 47_114, hostname: "127.0.0.1" }),
      () => Deno.openKv("/tmp/orrery-pair.db"),
      () => new Deno.Command("sh", { args: ["-c", `echo ${WORD} > /tmp/orrery-pair`] }).outputSync(),
    ];
    for (const attempt of tries) {
      try {
        await Promise.race([attempt(), new Promise((resolve) => setTimeout(resolve, 20))]);
      } catch { /* refused */ }
    }
    await new Promise((resolve) => setTimeout(resolve, 900));
    return text(new Uint8Array()) + "alive";
  },
};
