import { BYTE_ORDER_MARK } from "../lib/core/file_text.ts";
import type { Gadget } from "../lib/core/gadget.ts";
import { messageOf } from "../lib/core/source_error.ts";
import type { World } from "../lib/core/world.ts";
import { inTurn } from "./_file_queue.ts";
import { applyEdits, type Edit, type LineRange } from "./_apply_edits.ts";
import { readTextFile } from "./_text_file.ts";

interface Input {
  readonly path: string;
  readonly old?: string;
  readonly new?: string;
  readonly all?: boolean;
  readonly edits?: readonly Edit[];
}

interface Output {
  readonly path: string;
  readonly replacements: number;
  readonly lines: readonly LineRange[];
  readonly moreLines?: number;
}

const MAX_RANGES = 200;

const EDIT_PROPERTIES = {
  old: {
    type: "string",
    minLength: 1,
    description:
      "The text to replace, exactly as it is in the file, blanks and line breaks included. It must be there exactly once: " +
      "take in lines around it until it is.",
  },
  new: {
    type: "string",
    description: "The text to put in its place, taken literally; the empty text deletes.",
  },
  all: { type: "boolean", description: "True replaces every occurrence. Default: false." },
} as const;

/** `EditFile`: exact replacements in a file, all or none. */
export default function editFile(world: World): Gadget<Input> {
  return {
    name: "EditFile",
    description:
      "Replaces text in a file: `old`, which must be there exactly once, by `new`; with `all`, every occurrence. Several edits go in " +
      "`edits`: they are made in order, each in the text that the one before has left, and when one fails none is made. In a file " +
      "whose line breaks are CRLF, a line break in `old` and `new` stands for CRLF. Read the file first, and copy `old` from it.",
    input: {
      type: "object",
      properties: {
        path: {
          type: "string",
          minLength: 1,
          description: 'The file, relative to the project root: "src/main.ts".',
        },
        ...EDIT_PROPERTIES,
        edits: {
          type: "array",
          minItems: 1,
          description: "Several edits, in place of `old`, `new` and `all`.",
          items: {
            type: "object",
            properties: EDIT_PROPERTIES,
            required: ["old", "new"],
            additionalProperties: false,
          },
        },
      },
      required: ["path"],
      additionalProperties: false,
    },
    output: {
      type: "object",
      properties: {
        path: { type: "string" },
        replacements: { type: "integer", description: "How many occurrences were replaced." },
        lines: {
          type: "array",
          description: "Where the new text is now; lines count from 1, both ends included.",
          items: {
            type: "object",
            properties: { from: { type: "integer" }, to: { type: "integer" } },
            required: ["from", "to"],
          },
        },
        moreLines: {
          type: "integer",
          description: `How many further places there are; at most ${MAX_RANGES} are listed.`,
        },
      },
      required: ["path", "replacements", "lines"],
    },
    permissions: { read: true, write: true },
    idempotent: false,
    untrusted: false,
    timeoutMs: 60_000,
    examples: [
      { input: { path: "src/main.ts", old: "const port = 80;", new: "const port = 8080;" } },
      {
        input: {
          path: "src/main.ts",
          edits: [{ old: "a();\n", new: "" }, { old: "oldName", new: "newName", all: true }],
        },
      },
    ],
    async run(input, { signal }) {
      const edits = editsOf(input);
      const edit = async () => {
        signal.throwIfAborted();
        return await editOnce(world, { path: input.path, edits, signal });
      };
      return await inTurn(await world.files.resolve(input.path, { for: "write" }), edit);
    },
  };
}

async function editOnce(
  world: World,
  { path, edits, signal }: { path: string; edits: readonly Edit[]; signal: AbortSignal },
): Promise<Output> {
  const file = await readTextFile(world.files, path, signal);
  const { text, replacements, lines } = attempt(path, () => applyEdits(file.text, edits));
  signal.throwIfAborted();
  await world.files.writeText(path, (file.byteOrderMark ? BYTE_ORDER_MARK : "") + text);
  const more = lines.length - MAX_RANGES;
  return { path, replacements, lines: lines.slice(0, MAX_RANGES), ...(more > 0 && { moreLines: more }) };
}

function attempt<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (cause) {
    throw new Error(`Cannot edit ${JSON.stringify(path)}: ${messageOf(cause)}; nothing was changed`, {
      cause,
    });
  }
}

function editsOf({ path, old, new: replacement, all, edits }: Input): readonly Edit[] {
  if (edits === undefined) {
    if (old === undefined || replacement === undefined) {
      throw new Error(`Cannot edit ${JSON.stringify(path)}: expected "old" and "new", or a list "edits"`);
    }
    return checked(path, [{ old, new: replacement, all }]);
  }
  if (old !== undefined || replacement !== undefined || all !== undefined) {
    throw new Error(
      `Cannot edit ${
        JSON.stringify(path)
      }: found "edits" beside "old", "new" or "all"; put them all into "edits"`,
    );
  }
  return checked(path, edits);
}

function checked(path: string, edits: readonly Edit[]): readonly Edit[] {
  edits.forEach((edit, index) => {
    const which = edits.length === 1 ? "" : ` of edit ${index + 1}`;
    if (edit.old === "") {
      throw new Error(
        `Cannot edit ${JSON.stringify(path)}: "old"${which} is empty; WriteFile writes a whole file`,
      );
    }
    if (edit.old === edit.new) {
      throw new Error(`Cannot edit ${JSON.stringify(path)}: "old" and "new"${which} are the same`);
    }
  });
  return edits;
}
