// Writes a file to stdout as a model would: a few characters at a time.
//   deno run --allow-read type.ts FILE [CHARACTERS_A_SECOND]
const [file = "slowly.calls", speed = "400"] = Deno.args;
const text = await Deno.readTextFile(file);
const charactersAtOnce = 8;
const encoder = new TextEncoder();
for (let at = 0; at < text.length; at += charactersAtOnce) {
  await Deno.stdout.write(encoder.encode(text.slice(at, at + charactersAtOnce)));
  await new Promise((resolve) => setTimeout(resolve, 1000 * charactersAtOnce / Number(speed)));
}
