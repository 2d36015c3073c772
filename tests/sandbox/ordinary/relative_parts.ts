import { area, later } from "./_parts/shapes.ts";
import type { Shape } from "./_parts/types.ts";
import words from "./_parts/words.json" with { type: "json" };

const shapes: readonly Shape[] = [{ kind: "square", size: 3 }, { kind: "circle", size: 2 }];

export default {
  name: "RelativeParts",
  description: "Is made of several modules.",
  async run() {
    const literal = await import("./_parts/later.ts");
    const name = ["later", "ts"].join(".");
    const computed: typeof literal = await import(`./_parts/${name}`);
    return {
      areas: shapes.map(area),
      said: [later("a"), literal.default("b"), computed.default("c")],
      words,
      url: import.meta.url.slice(import.meta.url.lastIndexOf("/")),
    };
  },
};
