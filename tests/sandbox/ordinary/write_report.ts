export default {
  name: "WriteReport",
  description: "Writes a report.",
  permissions: { read: ["out"], write: ["out"] },
  async run() {
    await Deno.mkdir("out/deep/er", { recursive: true });
    await Deno.writeTextFile("out/deep/er/report.txt", "one\n");
    Deno.writeTextFileSync("out/deep/er/report.txt", "two\n", { append: true });
    await Deno.writeFile("out/bytes.bin", new Uint8Array([0, 1, 255]));
    await Deno.rename("out/bytes.bin", "out/renamed.bin");
    await Deno.copyFile("out/deep/er/report.txt", "out/copy.txt");
    await Deno.remove("out/deep", { recursive: true });
    const names = [...Deno.readDirSync("out")].map(({ name }) => name).sort();
    return {
      names,
      text: Deno.readTextFileSync("out/copy.txt"),
      bytes: [...await Deno.readFile("out/renamed.bin")],
    };
  },
};
