// A kind of file that is none of Orrery's, all of it: `*.toy`, each line a step. `say TEXT` gives the text, `read FILE` what is in a file.
import { resolve } from "node:path";
import { messageOf, objectOrEmpty, type RunKind } from "../lib/core/core.ts";
import { EffectError, performEffect } from "../lib/run/effect.ts";
import type { Run, RunEnd } from "../lib/run/run.ts";
import { endingRun } from "../lib/run/work_run.ts";
import type { Kind } from "../lib/service/kinds/kind.ts";
import type { ReadyRun } from "../lib/service/start/ready_run.ts";

const name = "toy" as string as RunKind;
const linesOf = (text: unknown) =>
  String(text).trim().split("\n").map((text, index) => ({ text, n: index + 1 }));
const loaded = <Part>(part: Part) => () => Promise.resolve(part);

async function stepped(run: Run, text: unknown, root: string): Promise<RunEnd> {
  let value = "";
  for (const { text: line, n } of linesOf(text)) {
    const [word, rest = ""] = line.split(" ");
    const perform = async () => word === "say" ? rest : await Deno.readTextFile(resolve(root, rest));
    const failure = { message: `line ${n}: cannot ${line}`, code: "error" } as const;
    const retried = () => perform().catch(() => Promise.reject(new EffectError(failure, { isKept: false })));
    const step = { key: `line[${n}]`, kind: "step", name: line, input: line, isIdempotent: true } as const;
    value += await performEffect(run, { ...step, perform: retried });
  }
  return { status: "done", value };
}

/** One that was begun, or is to begin; where a step fails it stops, and can go on. */
function ready(start: ReadyRun["start"], root: string): ReadyRun {
  const stopped = (error: unknown): RunEnd => ({
    status: "failed",
    error: messageOf(error),
    keepAs: "stopped",
  });
  return {
    start,
    shows: { endsLine: true },
    events: (keeping) =>
      endingRun(
        name,
        { ...keeping, file: start.file },
        (run) => stepped(run, objectOrEmpty(start.input).text, root).catch(stopped),
      ),
  };
}

/** Passed in where kinds are taken: to `main()`, or to `openService()`. */
export const toy: Kind = {
  name,
  file: { word: "toy", endings: ".toy", is: (path) => path.endsWith(".toy") },
  run: loaded({
    async start({ file }, { project: { root } }) {
      const text = await Deno.readTextFile(resolve(root, file));
      return ready({ kind: name, file, input: { text }, files: [{ path: file, text }] }, root);
    },
    again: ({ run }, { project: { root } }) => Promise.resolve(ready(run, root)),
  }),
  check: loaded({
    async check({ named, found }, { places, report }) {
      for (const path of [...named, ...found]) {
        for (const { text, n } of linesOf(await places.read(path, name))) {
          if (/^(say|read) ./.test(text)) continue;
          report.add({ kind: name, path, line: n, message: `expected say or read, found ${text}` });
        }
      }
    },
  }),
  show: loaded({ show: ({ text }) => Promise.resolve({ json: { lines: linesOf(text).length }, text }) }),
};
