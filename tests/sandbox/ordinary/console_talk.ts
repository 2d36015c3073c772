export default {
  name: "ConsoleTalk",
  description: "Talks to the console.",
  async run() {
    console.log("plain %s %d", "text", 42);
    console.error("an error");
    console.log({ a: [1, { b: 2 }] });
    await Deno.stdout.write(new TextEncoder().encode("to stdout\n"));
    Deno.stderr.writeSync(new TextEncoder().encode("to stderr\n"));
    return null;
  },
};
