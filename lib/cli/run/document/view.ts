import type { RunEvent } from "../../../core/core.ts";
import type { Terminal } from "../../../host/terminal/terminal.ts";
import { type FrameSize, renderDocument } from "../../../render/frame.ts";
import { DocumentLines, mergedBlock } from "../../../render/lines.ts";
import { isNested } from "../../../render/rows.ts";
import { longText } from "../../../render/shown_text.ts";
import { FrameView } from "../screen.ts";
import { linesView, type RunView, wantsLiveView } from "../view.ts";

/** What the person at the terminal sees of a document's run, on stderr: live where it wants that, else lines. */
export function documentView(
  terminal: Terminal,
  flags: { readonly quiet: boolean; readonly jsonl?: boolean },
  options: { readonly isReused?: (key: string) => boolean } = {},
): RunView {
  const { isReused } = options;
  if (wantsLiveView(terminal, flags)) return new DocumentScreen(terminal, isReused);
  return plainDocumentView(terminal, { ...flags, isReused });
}

/** The same as lines, as they come. */
export function plainDocumentView(
  { stderr }: Terminal,
  options: { readonly quiet: boolean; readonly isReused?: (key: string) => boolean },
): RunView {
  return linesView(stderr, new DocumentLines(options));
}

/** So many operations stay on the screen one by one, even when it scrolls. */
const MAX_FINAL_ROWS = 200;

/** The live view of a document's run on stderr: what comes into the document, and what goes wrong, scrolls away above the frame of its operations. */
class DocumentScreen extends FrameView implements RunView {
  readonly #problems: DocumentLines;

  constructor(terminal: Terminal, isReused?: (key: string) => boolean) {
    super(terminal, (size) => this.#count() === 0 ? [] : renderDocument(this.#problems.rows, size));
    this.#problems = new DocumentLines({ problemsOnly: true, isReused });
  }

  #count(): number {
    return this.#problems.rows.all.filter(isNested).length;
  }

  override notice(text: string): Promise<void> {
    return super.notice(longText(text));
  }

  override log(source: string, text: string): Promise<void> {
    return super.log(source, text.trimEnd());
  }

  event(event: RunEvent): Promise<void> {
    this.frame.setTime(event.at);
    this.frame.writeAbove(this.#above(event));
    if (event.type === "call-log") return this.log(event.invocationId, event.text);
    return Promise.resolve();
  }

  #above(event: RunEvent): string {
    const problem = this.#problems.text(event);
    if (event.type === "warning") return this.paint("yellow", problem.trimEnd()) + "\n";
    if (problem !== "") {
      return problem.trimEnd().split("\n").map((line) => `${this.paint("red", line)}\n`).join("");
    }
    return event.type === "block-merge" ? this.#merged(event) : "";
  }

  /** That of an error is its line once more, which is told by itself. */
  #merged(event: Extract<RunEvent, { type: "block-merge" }>): string {
    if (event.step.endsWith("/error")) return "";
    const { name = event.step, depth = 0 } = this.#problems.rows.operationOf(event.step) ?? {};
    return mergedBlock(event, { name, depth, paint: this.paint });
  }

  async end(): Promise<void> {
    await this.frame.end((size) => this.#lastFrame(size), "");
  }

  #lastFrame(size: FrameSize): readonly string[] {
    const count = this.#count();
    if (count === 0) return [];
    return renderDocument(this.#problems.rows, {
      ...size,
      rows: count <= MAX_FINAL_ROWS ? MAX_FINAL_ROWS + 16 : size.rows,
    });
  }
}
