// A kind of file that is none of Orrery's, all of it: `*.toy`, each line a step. `say TEXT` gives the text, `read FILE` what is in a file.
import { resolve } from "node:path";
import { EffectError, performEffect } from "../lib/run/effect.ts";
import type { Kind } from "../lib/service/kinds/kind.ts";

const linesOf = (text: string) => text.trim().split("\n").map((line, index) => ({ line, n: index + 1 }));

/** Passed in where kinds are taken: to `main()`, or to `openService()`. */
export const toy: Kind = {
  name: "toy",
  file: { word: "toy", endings: ".toy", is: (path) => path.endsWith(".toy") },
  run: () => ({
    async perform(run, text, { project: { root } }) {
      let value = "";
      for (const { line, n } of linesOf(text)) {
        const [word, rest = ""] = line.split(" ");
        const failure = new EffectError({ message: `line ${n}: cannot ${line}` }, { isKept: false });
        const read = () => Deno.readTextFile(resolve(root, rest)).catch(() => Promise.reject(failure));
        const perform = () => word === "say" ? Promise.resolve(rest) : read();
        const step = { key: `line[${n}]`, kind: "step", name: line, input: line } as const;
        value += await performEffect(run, { ...step, isIdempotent: true, perform });
      }
      return value;
    },
  }),
  check: () => ({
    checkFile({ text, tell }) {
      for (const { line, n } of linesOf(text)) {
        if (!/^(say|read) ./.test(line)) tell({ line: n, message: `expected say or read, found ${line}` });
      }
    },
  }),
  show: () => ({ show: ({ text }) => ({ json: { lines: linesOf(text).length }, text }) }),
};
