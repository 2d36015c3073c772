// A node that is killed: `_node.ts PORT FOLDER`. Its runs are twelve steps, side by side in pairs, of which every third one is not idempotent. Each
// writes its key into the file of its run when it is done; of a step whose end is not known that file is asked, as a person would look.
import { appendFile, readFile } from "node:fs/promises";
import { durableNode } from "../../lib/durable/run_service.ts";
import { performEffect } from "../../lib/run/effect.ts";
import { lived } from "../_step_contract.ts";
import { pause } from "../_waiting.ts";

const [port = "", folder = ""] = Deno.args;

const node = durableNode({
  async work({ run: id, isAgain, signal }) {
    const file = `${folder}/${id}`;
    const { journal } = node;
    const run = isAgain ? journal.open(id) : journal.create({ id, kind: "test", input: null });
    const done = (await readFile(file, "utf8").catch(() => "")).split("\n");
    for (const step of journal.read(id).steps) {
      if (step.status === "finished" || step.idempotent) continue;
      run.settle(step.key, done.includes(step.key) ? { outcome: { ok: step.key } } : "rerun");
    }
    const life = await lived(async (run) => {
      const values: (string | null)[] = [];
      const step = async (n: number): Promise<void> => {
        const key = `s${n}`;
        const value = await performEffect(run, {
          key,
          kind: "shell",
          name: "a command",
          input: { n },
          isIdempotent: n % 3 !== 0,
          async perform() {
            await pause(15);
            await appendFile(file, `${key}\n`);
            return key;
          },
        });
        values[n] = value === undefined ? null : String(value);
      };
      for (let n = 0; n < 12; n += 2) await Promise.all([step(n), step(n + 1)]);
      return values;
    }, { journal: run, signal });
    if (life.error !== undefined) throw life.error;
    await appendFile(file, `value ${JSON.stringify(life.value)}\n`);
  },
});

Deno.serve({ hostname: "127.0.0.1", port: Number(port), onListen: () => console.log("ready") }, node.handler);
