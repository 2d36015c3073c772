import type { Catalog } from "../core/catalog.ts";
import { ModelError } from "../core/model.ts";
import type { ToolSource } from "./offered.ts";

/** The gadgets of a catalogue by name; it is made when the first one is looked for. One that is not trusted is refused: `permission`. */
export function catalogTools(catalog: () => Promise<Catalog>): ToolSource {
  return {
    async find(name) {
      const entry = (await catalog()).maybeFind(name);
      if (entry?.state === "not-trusted") {
        const { problem = `Gadget "${name}" is not trusted`, flag = `--trust ${entry.name}` } = entry;
        throw new ModelError(problem, { code: "permission", flag });
      }
      return await entry?.load();
    },
    names: async () => (await catalog()).entries.map((entry) => entry.name),
  };
}
