// The process that strips types: started with this module under a Deno whose Node part can do it. It may do nothing, and is told texts only,
// so a text that ends it or keeps it busy for ever harms nobody. Lines of JSON on both sides: a text, then what came of it.

import * as nodeModule from "node:module";

const MAP = "//# sourceMappingURL=data:application/json;base64,";
const READ_BYTES = 65_536;

type Strip = (text: string, options: { readonly mode: "transform"; readonly sourceMap: true }) => string;

function* linesOfStdin(): Generator<string> {
  const buffer = new Uint8Array(READ_BYTES);
  const decoder = new TextDecoder();
  let parts: string[] = [];
  for (let count = Deno.stdin.readSync(buffer); count !== null; count = Deno.stdin.readSync(buffer)) {
    const [first = "", ...others] = decoder.decode(buffer.subarray(0, count), { stream: true }).split("\n");
    parts.push(first);
    for (const other of others) {
      yield parts.join("");
      parts = [other];
    }
  }
}

function say(value: unknown): void {
  const bytes = new TextEncoder().encode(`${JSON.stringify(value)}\n`);
  for (let at = 0; at < bytes.length;) at += Deno.stdout.writeSync(bytes.subarray(at));
}

/** Null for what cannot be read. */
function stripped(strip: Strip, text: string): unknown {
  try {
    const code = strip(text, { mode: "transform", sourceMap: true });
    const at = code.lastIndexOf(MAP);
    const map = Uint8Array.from(atob(code.slice(at + MAP.length).trim()), (char) => char.charCodeAt(0));
    return { code: code.slice(0, at), map: new TextDecoder().decode(map) };
  } catch {
    return null;
  }
}

if (import.meta.main) {
  const strip: unknown = Reflect.get(nodeModule, "stripTypeScriptTypes");
  if (typeof strip === "function") {
    say("ready");
    for (const line of linesOfStdin()) {
      say(stripped((text, options) => String(strip(text, options)), String(JSON.parse(line))));
    }
  }
}
