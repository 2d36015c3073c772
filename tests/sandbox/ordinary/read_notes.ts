interface Note {
  readonly name: string;
  readonly lines: number;
}

export default {
  name: "ReadNotes",
  description: "Counts the lines of the notes.",
  permissions: { read: ["data"] },
  async run(): Promise<{ notes: Note[]; size: number; isFile: boolean; missing: string; refused: string }> {
    const notes: Note[] = [];
    for await (const entry of Deno.readDir("data")) {
      if (!entry.isFile) continue;
      const text = await Deno.readTextFile(`data/${entry.name}`);
      notes.push({ name: entry.name, lines: text.split("\n").length - 1 });
    }
    const bytes = Deno.readFileSync(new URL("../data/a.txt", import.meta.url));
    const { isFile } = Deno.statSync("./data/a.txt");
    const missing = await Deno.readTextFile("data/none.txt").catch((error: unknown) =>
      error instanceof Deno.errors.NotFound ? "NotFound" : String(error)
    );
    const refused = await Deno.readTextFile("orrery.yaml").catch((error: unknown) =>
      error instanceof Deno.errors.NotCapable ? "NotCapable" : String(error)
    );
    return {
      notes: notes.sort((a, b) => a.name < b.name ? -1 : 1),
      size: bytes.length,
      isFile,
      missing,
      refused,
    };
  },
};
