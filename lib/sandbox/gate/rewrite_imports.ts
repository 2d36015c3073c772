import { type Edit, editText } from "./edited_text.ts";
import type { FoundImport, NamedImport } from "./find_imports.ts";
import { harmless, harmlessEdits } from "./harmless_words.ts";

/** A module with its imports written anew. */
export interface Rewritten {
  readonly code: string;
  readonly edits: readonly Edit[];
}

/**
 * Writes every import of a module anew, and makes everything harmless that could be one besides.
 *
 * @param targets the specifier for every named import, as it is to be imported
 * @param url of the original, `file:`
 */
export function rewriteImports(
  code: string,
  { imports, targets, url }: {
    readonly imports: readonly FoundImport[];
    readonly targets: ReadonlyMap<NamedImport, string>;
    readonly url: string;
  },
): Rewritten {
  const known = imports.map((found) => ({
    start: found.start,
    end: found.end,
    text: written(found, { targets, url }) + lineEnds(code.slice(found.start, found.end)),
  }));
  const edits = [...known, ...harmlessEdits(code, known)].sort((a, b) => a.start - b.start);
  return { code: editText(code, edits), edits };
}

/** The statements are whole and closed, so that nothing of the module's own text can become a part of them. */
function written(
  found: FoundImport,
  { targets, url }: { readonly targets: ReadonlyMap<NamedImport, string>; readonly url: string },
): string {
  switch (found.kind) {
    case "import":
    case "export": {
      const from = found.clause === "" ? "" : `${harmless(found.clause)} from `;
      return `${found.kind} ${from}${literal(targets.get(found) ?? "")};`;
    }
    case "call":
      return `import(${literal(targets.get(found) ?? "")})`;
    case "computed":
      return `${HELPER}.importFrom(${literal(url)}, `;
    case "meta":
      return `${HELPER}.metaOf\`${plainCharacters(url)}\``; // a tag, so that `new import.meta.X()` makes an X
    default:
      return found satisfies never;
  }
}

/** The door as a name of its own: a module may have a `Symbol` or a `globalThis` of its own. */
const HELPER = "__orreryGadget";

function literal(text: string): string {
  return `"${plainCharacters(text)}"`;
}

/** What a literal or a template has to say for this, without any character that could end a comment, a template or a line. */
function plainCharacters(text: string): string {
  return harmless(text.replaceAll(
    /[^\w ./:@%~+^-]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
  ));
}

/** As many as there were, so that every line keeps its number. */
function lineEnds(text: string): string {
  return "\n".repeat(text.split("\n").length - 1);
}
