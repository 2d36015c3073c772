import {
  FileError,
  type Gadget,
  objectOf,
  onlyFields,
  PermissionRefused,
  type World,
} from "../lib/core/core.ts";
import { compileGlob } from "./_glob.ts";
import { SKIPPED_IN_WORDS, walk, type WalkEntry } from "./_walk.ts";

interface Input {
  readonly path?: string;
  readonly depth?: number;
  readonly pattern?: string;
}

interface Entry {
  readonly path: string;
  readonly kind: "file" | "folder" | "other";
  /** Bytes, of a file. */
  readonly size?: number;
  readonly link?: true;
  readonly problem?: string;
}

const MAX_ENTRIES = 1000;
/** Where counting the entries that are missing ends. */
const MAX_COUNTED = 100_000;
const MAX_DEPTH = 100;

/** `ListFolder`: what is in a folder. */
export default function listFolder(world: World): Gadget<Input> {
  return {
    name: "ListFolder",
    description:
      "Lists what is in a folder: path, kind and, of files, the size in bytes; sorted, hidden names too. With `depth` also what is in " +
      `the folders below; ${SKIPPED_IN_WORDS} are named but not entered, links are named but not followed. With \`pattern\` only what ` +
      `matches it, at any depth. At most ${MAX_ENTRIES} entries are returned, and the number of those missing.`,
    input: onlyFields({
      path: {
        type: "string",
        minLength: 1,
        description: "The folder, relative to the project root, which is the default.",
      },
      depth: {
        type: "integer",
        minimum: 1,
        maximum: MAX_DEPTH,
        description:
          "How many levels to list: 1 is the folder itself, the default; with `pattern` the default is all.",
      },
      pattern: {
        type: "string",
        minLength: 1,
        description:
          'A glob: "*.ts" for names at any depth, "src/**/*.{ts,tsx}" for paths below the folder. "*" and "?" do not match "/".',
      },
    }),
    output: objectOf({
      path: { type: "string" },
      entries: {
        type: "array",
        items: objectOf({
          path: { type: "string", description: "Below the folder." },
          kind: { enum: ["file", "folder", "other"] },
          size: { type: "integer", description: "Bytes, of a file." },
          link: { const: true, description: "A symbolic link; the kind is that of what it leads to." },
          problem: { type: "string", description: "Why a folder could not be entered." },
        }, ["path", "kind"]),
      },
      missing: { type: "integer", description: "How many more entries there are." },
      missingIsLeast: { const: true, description: "There are more than `missing`: counting was stopped." },
    }, ["path", "entries", "missing"]),
    permissions: { read: true },
    idempotent: true,
    untrusted: false,
    timeoutMs: 60_000,
    examples: [
      { input: {}, comment: "the project root" },
      { input: { path: "src", depth: 2 } },
      { input: { pattern: "**/*_test.ts" }, comment: "all tests" },
    ],
    async run({ path = ".", depth, pattern }, { signal }) {
      const matches = pattern === undefined ? () => true : compileGlob(pattern);
      const levels = depth ?? (pattern === undefined ? 1 : MAX_DEPTH);
      const entries: Entry[] = [];
      let counted = 0;
      let found = 0;
      for await (const entry of walk(world.files, { folder: path, depth: levels, signal })) {
        if (++counted > MAX_COUNTED) break;
        if (!matches(entry.path) || ++found > MAX_ENTRIES) continue;
        entries.push(await describeEntry(world, entry));
      }
      const missing = found - entries.length;
      return { path, entries, missing, ...(counted > MAX_COUNTED && { missingIsLeast: true }) };
    },
  };
}

async function describeEntry(world: World, entry: WalkEntry): Promise<Entry> {
  const { path, kind, link, problem } = entry;
  const size = kind === "file" ? await maybeSize(world, entry.fullPath) : undefined;
  return {
    path,
    kind,
    size,
    ...(link && { link }),
    problem,
  };
}

/** A link may lead to where nobody may look, and a file may be gone since it was listed. */
async function maybeSize(world: World, path: string): Promise<number | undefined> {
  try {
    return (await world.files.stat(path)).size;
  } catch (error) {
    if (error instanceof FileError || error instanceof PermissionRefused) return undefined;
    throw error;
  }
}
