// Says back what it is told.
const at = JSON.parse(Deno.args[0] ?? "{}");
const connection = "path" in at
  ? await Deno.connect({ transport: "unix", path: at.path })
  : await Deno.connect({ hostname: "127.0.0.1", port: at.port });
if ("setNoDelay" in connection) connection.setNoDelay(true);
const buffer = new Uint8Array(1024);
for (let count = await connection.read(buffer); count !== null; count = await connection.read(buffer)) {
  await connection.write(buffer.subarray(0, count));
}
