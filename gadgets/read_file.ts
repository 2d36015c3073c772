import { type Gadget, onlyFields, type World } from "../lib/core/core.ts";
import { readTextFile } from "./_text_file.ts";
import { counted } from "./_words.ts";

interface Input {
  readonly path: string;
  readonly from?: number;
  readonly lines?: number;
}

/** `ReadFile`: a file of text, or some of its lines. */
export default function readFile(world: World): Gadget<Input> {
  return {
    name: "ReadFile",
    description:
      "Returns the text of a file exactly as it is, or only some of its lines. The file must be UTF-8 text of at most " +
      "64 MiB. Read a long file in parts with `from` and `lines`; to find something in many files use SearchText.",
    input: onlyFields({
      path: {
        type: "string",
        minLength: 1,
        description: 'The file, relative to the project root: "src/main.ts".',
      },
      from: {
        type: "integer",
        minimum: 1,
        description: "The number of the first line to return. Lines count from 1, the default.",
      },
      lines: {
        type: "integer",
        minimum: 1,
        description: "How many lines to return at most. Default: all that follow.",
      },
    }, ["path"]),
    output: { type: "string" },
    permissions: { read: true },
    idempotent: true,
    untrusted: false,
    timeoutMs: 60_000,
    examples: [
      { input: { path: "README.md" } },
      { input: { path: "src/main.ts", from: 120, lines: 40 }, comment: "lines 120 to 159" },
    ],
    async run({ path, from = 1, lines = Infinity }, { signal }) {
      const { text } = await readTextFile(world.files, path, signal);
      if (from === 1 && lines === Infinity) return text;
      const start = offsetOfLine(text, { count: from - 1, from: 0 });
      if (start === undefined) {
        throw new Error(
          `Cannot read ${JSON.stringify(path)} from line ${from}: it has ${
            counted(countLines(text), "line")
          }`,
        );
      }
      return text.slice(start, offsetOfLine(text, { count: lines, from: start }));
    },
  };
}

/** The offset `count` lines after `from`; undefined when no line begins there. */
function offsetOfLine(text: string, { count, from }: { count: number; from: number }): number | undefined {
  let offset = from;
  for (let i = 0; i < count; i++) {
    const lineFeed = text.indexOf("\n", offset);
    if (lineFeed < 0 || lineFeed === text.length - 1) return undefined;
    offset = lineFeed + 1;
  }
  return offset;
}

function countLines(text: string): number {
  const lineFeeds = text.split("\n").length - 1;
  return text === "" || text.endsWith("\n") ? lineFeeds : lineFeeds + 1;
}
