import type { Terminal } from "../host/terminal.ts";
import { DocumentLines } from "../render/document_lines.ts";
import type { IsReused } from "../render/document_state.ts";
import { linesView, wantsLiveView } from "./run_view.ts";
import type { RunView } from "./run_view.ts";

/** What the person at the terminal sees of a document's run, on stderr: live where it wants that, else lines. */
export async function documentView(
  terminal: Terminal,
  flags: { readonly quiet: boolean; readonly jsonl?: boolean },
  options: { readonly isReused?: IsReused } = {},
): Promise<RunView> {
  const { isReused = () => false } = options;
  if (wantsLiveView(terminal, flags)) {
    const { documentScreen }: typeof import("./document_screen.ts") = await import(
      "./document_screen.ts" as string
    );
    return documentScreen(terminal, { isReused });
  }
  return plainDocumentView(terminal, { ...flags, isReused });
}

/** The same as lines, as they come. */
export function plainDocumentView(
  { stderr }: Terminal,
  options: { readonly quiet: boolean; readonly isReused?: IsReused },
): RunView {
  return linesView(stderr, new DocumentLines(options));
}
