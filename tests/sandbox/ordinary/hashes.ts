import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { Buffer } from "node:buffer";
import { gunzipSync, gzipSync } from "node:zlib";

export default {
  name: "Hashes",
  description: "Computes hashes.",
  async run() {
    const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode("abc")));
    const node = createHash("sha256").update("abc").digest("hex");
    return {
      same: Buffer.from(digest).toString("hex") === node,
      node,
      random: randomBytes(8).length,
      uuid: crypto.randomUUID().length,
      equal: timingSafeEqual(Buffer.from("a"), Buffer.from("a")),
      zipped: gunzipSync(gzipSync("text")).toString(),
    };
  },
};
