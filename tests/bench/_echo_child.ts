// Answers whatever it reads, at once: what a call costs when there is nothing in it.

const connection = await Deno.connect({ hostname: "127.0.0.1", port: Number(Deno.args[0]) });
connection.setNoDelay(true);
const buffer = new Uint8Array(1024);
for (let count = await connection.read(buffer); count !== null; count = await connection.read(buffer)) {
  await connection.write(buffer.subarray(0, count));
}
