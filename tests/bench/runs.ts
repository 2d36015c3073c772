// A whole run of many calls that do nothing: read, scheduled, validated, called; and a check of a large project.

import { createCatalog, defineGadget, runCalls } from "../../mod.ts";
import { testProject } from "../_project.ts";
import { median } from "./_median.ts";
import type { Row } from "./_table.ts";

const CALLS = 10_000;
const FILES = 2_000;
const ROUNDS = 5;

/** The rows of the table. */
export async function benchRuns(): Promise<readonly Row[]> {
  return [...await benchCalls(), ...await benchCheck()];
}

async function benchCalls(): Promise<readonly Row[]> {
  const nothing = defineGadget({
    name: "Nothing",
    input: { type: "object", properties: { n: { type: "integer" } } },
    run: ({ n }) => String(n),
  });
  const catalog = createCatalog([nothing]);
  const text = Array.from(
    { length: CALLS },
    (_, n) => `!!!GADGET_START:Nothing\n!!!ARG:n\n${n}\n!!!GADGET_END\n`,
  )
    .join("");
  const times: number[] = [];
  for (let round = -1; round < ROUNDS; round++) {
    const start = performance.now();
    let done = 0;
    for await (const { type } of runCalls([text], { catalog })) if (type === "call-result") done++;
    if (done !== CALLS) throw new Error(`${done} calls of ${CALLS} have a result`);
    if (round >= 0) times.push(performance.now() - start);
  }
  const us = median(times) / CALLS * 1000;
  return [{ what: "a run of 10,000 calls that do nothing, a call", value: us, unit: "us", limit: 15 }];
}

/** A quarter each: call files, documents, prompts, agents. */
async function benchCheck(): Promise<readonly Row[]> {
  const files: Record<string, string> = {};
  for (let n = 0; n < FILES / 4; n++) {
    files[`calls/${n}.calls`] = `!!!GADGET_START:Calculate:a\n!!!ARG:expression\n${n} + 1\n!!!GADGET_END\n`;
    files[`documents/${n}.md`] = `# Plan ${n}\n\n@shell\nprompt: echo ${n}\n`;
    files[`prompts/p${n}.prompt.md`] = `---\ndescription: Number ${n}.\n---\nSay {what}, ${n} times.\n`;
    files[`agents/${n}.agent.yml`] = JSON.stringify({
      version: "0.1",
      structure: {
        id: "talk",
        action: { id: "main", chain: [{ id: "say", message: { message: `Hello ${n}` } }] },
      },
    });
  }
  await using project = await testProject(files);
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const start = performance.now();
    const { code, stdout, stderr } = await project.run(["check"], { alone: true, timeoutMs: 120_000 });
    times.push(performance.now() - start);
    if (code !== 0) throw new Error((stdout + stderr).slice(0, 2000));
  }
  return [{
    what: "orrery check of 2,000 files of all kinds",
    value: median(times),
    unit: "ms",
    limit: 5000,
  }];
}
