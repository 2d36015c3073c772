// A kind of file that is none of Orrery's: `*.toy`, each line a step. `say TEXT` gives the text, `read FILE` what is in a file.
import { resolve } from "node:path";
import { messageOf, objectOrEmpty, type RunKind } from "../lib/core/core.ts";
import { EffectError, performEffect } from "../lib/run/effect.ts";
import { endingRun } from "../lib/run/work_run.ts";
import type { Kind } from "../lib/service/kinds/kind.ts";
import type { ReadyRun, StartPlace } from "../lib/service/start/ready_run.ts";

const NAME = "toy" as string as RunKind;

function ready(start: ReadyRun["start"], { project: { root } }: StartPlace): ReadyRun {
  const lines = String(objectOrEmpty(start.input).text).trim().split("\n");
  return {
    start,
    shows: { endsLine: true },
    events: (keeping) =>
      endingRun(NAME, { ...keeping, file: start.file }, async (run) => {
        let value = "";
        for (const [index, line] of lines.entries()) {
          const [word = "", ...rest] = line.split(" ");
          const step = { key: `line[${index + 1}]`, kind: "step", name: word, input: line } as const;
          const failure = { message: `${step.key}: cannot ${line}`, code: "error" } as const;
          const perform = async () =>
            word === "say"
              ? rest.join(" ")
              : await Deno.readTextFile(resolve(root, rest.join(" "))).catch(() => {
                throw new EffectError(failure, { isKept: false });
              });
          try {
            value += await performEffect(run, { ...step, isIdempotent: true, perform });
          } catch (error) {
            return { status: "failed", error: messageOf(error), keepAs: "stopped" };
          }
        }
        return { status: "done", value };
      }),
  };
}

/** Passed in where kinds are taken: to `main()`, or to `openService()`. */
export const toy: Kind = {
  name: NAME,
  file: { word: "toy", all: "toys", endings: ".toy", is: (name) => name.endsWith(".toy") },
  run: () =>
    Promise.resolve({
      async start({ file }, at) {
        const text = await Deno.readTextFile(resolve(at.project.root, file));
        return ready({ kind: NAME, file, input: { text }, files: [{ path: file, text }] }, at);
      },
      again: ({ run }, at) => Promise.resolve(ready(run, at)),
    }),
  graph: () =>
    Promise.resolve({
      graph({ text }) {
        const lines = text.trim().split("\n");
        const nodes = lines.map((line) => ({ id: line, gadgetName: "", state: "ok" as const }));
        const edges = lines.slice(1).map((_, from) => ({ from, to: from + 1, isCyclic: false }));
        return Promise.resolve({ graph: { nodes, edges }, problems: [] });
      },
    }),
  list: () =>
    Promise.resolve({
      async list({ root }) {
        const names = (await Array.fromAsync(Deno.readDir(root))).map(({ name }) => name).sort();
        const files = names.filter((name) => name.endsWith(".toy")).map((file) => ({ file }));
        return { files, head: ["FILE"], rows: files.map(({ file }) => [file]), notes: "" };
      },
    }),
  show: () =>
    Promise.resolve({
      show: ({ text }) => Promise.resolve({ json: { lines: text.trim().split("\n") }, text }),
    }),
  check: () =>
    Promise.resolve({
      async check({ named, found }, { places, report }) {
        for (const path of [...named, ...found]) {
          const lines = (await places.read(path, NAME) ?? "").trim().split("\n");
          for (const [index, line] of lines.entries()) {
            if (/^(say|read) ./.test(line)) continue;
            report.add({ kind: NAME, path, line: index + 1, message: `expected say or read, found ${line}` });
          }
        }
      },
    }),
};
