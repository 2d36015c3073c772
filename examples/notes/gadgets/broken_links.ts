// A gadget that asks for something: it reads a folder, so its first call is asked about.
import { defineGadget } from "orrery";

export default defineGadget({
  name: "BrokenLinks",
  description: "Finds the links in a folder of notes that lead to no note.",
  input: { type: "object", properties: { folder: { type: "string" } }, required: ["folder"] },
  permissions: { read: ["notes"] },
  async run({ folder }) {
    const names = (await Array.fromAsync(Deno.readDir(folder))).map(({ name }) => name);
    const broken: string[] = [];
    for (const name of names.sort()) {
      const text = await Deno.readTextFile(`${folder}/${name}`);
      for (const [, to = ""] of text.matchAll(/\]\(([\w.-]+\.md)\)/g)) {
        if (!names.includes(to)) broken.push(`${name}: ${to}`);
      }
    }
    return broken.join("\n");
  },
});
