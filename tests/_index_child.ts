// Opens a collection as a process of its own: `deno run -A _index_child.ts FILE [stop]`. It says "begun" when it is about to put the
// passages in; with `stop` it never ends that transaction.

import { openCollection } from "../mod.ts";
import { IndexDatabase } from "../lib/retrieval/passage_index.ts";

const [file = "", stop] = Deno.args;

if (stop === "stop") {
  const run = IndexDatabase.prototype.run;
  let added = 0;
  IndexDatabase.prototype.run = function (sql, ...values) {
    const row = run.call(this, sql, ...values);
    if (sql.startsWith("INSERT INTO words (rowid") && ++added === 3) {
      console.log("begun");
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 60_000);
    }
    return row;
  };
}
using collection = await openCollection(file);
const found = await collection.search("wheel", { limit: 100, secondary: true });
console.log(found.length);
