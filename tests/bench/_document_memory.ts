// A process of its own: opens a document of so many headings and prints the most memory that it ever held, in MB.

import { LiveDocument } from "../../lib/document/live_document.ts";
import { parseDocument } from "../../lib/parse/document/document.ts";

const count = Number(Deno.args[0]);
const text = Array.from({ length: count }, (_, n) => `## Heading number ${n}\n\nSome text below it.\n\n`)
  .join("");
const live = new LiveDocument(parseDocument(text));
if (live.print() !== text) throw new Error("the document was not printed as it was");
const status = await Deno.readTextFile("/proc/self/status").catch(() => "");
const peak = /VmHWM:\s+(\d+) kB/.exec(status)?.[1];
console.log(peak === undefined ? Deno.memoryUsage().rss / 1e6 : Number(peak) / 1e3);
