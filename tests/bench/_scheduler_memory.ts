// Prints the peak resident memory of this process in MB, after it ran as many layered nodes as the argument says.
const count = Number(Deno.args[0]);
if (count > 0) {
  const { schedule } = await import("../../lib/schedule/schedule.ts");
  const { graph } = await import("./scheduler.ts");
  let results = 0;
  for await (const outcome of schedule(graph("layered", count, false))) {
    if (outcome.status === "result") results++;
  }
  if (results !== count) throw new Error(`${results} of ${count} nodes gave a result`);
}
const peak = /VmHWM:\s+(\d+) kB/.exec(await Deno.readTextFile("/proc/self/status"))?.[1];
console.log(peak === undefined ? Deno.memoryUsage().rss / 1e6 : Number(peak) / 1e3);
