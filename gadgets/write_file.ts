import {
  BYTE_ORDER_MARK,
  FileError,
  type Gadget,
  objectOf,
  onlyFields,
  PermissionRefused,
  type World,
} from "../lib/core/core.ts";
import { inTurn, readTextFile } from "./_text_file.ts";

interface Input {
  readonly path: string;
  readonly content: string;
  readonly append?: boolean;
}

/** `WriteFile`: a whole file, or more text at its end. */
export default function writeFile(world: World): Gadget<Input> {
  return {
    name: "WriteFile",
    description:
      "Writes a file of UTF-8 text, or adds text at its end, and makes missing folders. An existing file is replaced whole; to " +
      "change a part of one use EditFile. The file is never left half written.",
    input: onlyFields({
      path: {
        type: "string",
        minLength: 1,
        description: 'The file, relative to the project root: "docs/plan.md".',
      },
      content: {
        type: "string",
        description: "The text, taken exactly as it is: a line break at the end must be part of it.",
      },
      append: {
        type: "boolean",
        description:
          "True adds the text at the end of the file, with nothing in between, in place of replacing the file. Default: false.",
      },
    }, ["path", "content"]),
    output: objectOf({
      path: { type: "string" },
      bytes: { type: "integer", description: "The size of the file now." },
      created: {
        type: "boolean",
        description: "True when there was no such file before; absent when it may not be read.",
      },
    }, ["path", "bytes"]),
    permissions: { read: true, write: true },
    idempotent: ({ append }) => append !== true,
    untrusted: false,
    timeoutMs: 60_000,
    examples: [
      { input: { path: "notes.txt", content: "First line\nSecond line\n" } },
      { input: { path: "log.txt", content: "done\n", append: true }, comment: "adds a line" },
    ],
    async run({ path, content, append = false }, { signal }) {
      const write = async () => {
        signal.throwIfAborted();
        const present = await isThere(world, path);
        const text = append && present !== false ? await appended(world, { path, content, signal }) : content;
        signal.throwIfAborted();
        await world.files.writeText(path, text);
        const bytes = new TextEncoder().encode(text).length;
        return { path, bytes, ...(present !== undefined && { created: !present }) };
      };
      return await inTurn(await world.files.resolve(path, { for: "write" }), write);
    },
  };
}

async function appended(
  world: World,
  { path, content, signal }: { path: string; content: string; signal: AbortSignal },
): Promise<string> {
  const file = await readTextFile(world.files, path, signal);
  return (file.byteOrderMark ? BYTE_ORDER_MARK : "") + file.text + content;
}

/** Undefined when it may be written but not looked at. */
async function isThere(world: World, path: string): Promise<boolean | undefined> {
  try {
    await world.files.stat(path);
    return true;
  } catch (error) {
    if (error instanceof PermissionRefused) return undefined;
    if (error instanceof FileError && error.code === "not-found") return false;
    throw error;
  }
}
