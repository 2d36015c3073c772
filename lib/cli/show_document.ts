import { typedPath } from "../catalog/shown_path.ts";
import type { Terminal } from "../host/terminal.ts";
import { printable } from "../render/shown_text.ts";
import { documentJson, usesOf } from "../service/document_json.ts";
import { outlineOf, seeDocument } from "../service/document_outline.ts";
import { documentPage } from "./document_page.ts";
import { documentProblems } from "./document_problems.ts";
import { EXIT } from "../service/exit_code.ts";

/** `orrery show document FILE.md`: what it takes, needs, uses and consists of. */
export async function showDocument(
  word: string,
  { flags, terminal }: { readonly flags: { readonly json: boolean }; readonly terminal: Terminal },
): Promise<number> {
  const seen = await seeDocument(word, "show");
  const { file, project } = seen;
  const outline = await outlineOf(file);
  const uses = usesOf(file, outline, (path) => typedPath(path, project));
  if (flags.json) {
    await terminal.stdout.write(`${JSON.stringify(documentJson(file, outline, uses), null, 2)}\n`);
    return EXIT.ok;
  }
  await terminal.stdout.write(printable(documentPage(file, outline, uses)));
  await terminal.stderr.write(documentProblems(seen));
  return EXIT.ok;
}
