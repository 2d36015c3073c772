// Not the fences of CommonMark: a model writes them in the middle of a line and behind a closing tag, and a block in a block with the
// same number of backticks. What opens and what closes is told by the character behind a run of backticks alone (prompts.md 3).

/** A code block that is inside no other block. */
export interface Fence {
  /** The word right behind the opening run. */
  readonly tag: string;
  /** Trimmed, without the rest of the opening line. */
  readonly content: string;
}

/** The outermost closed blocks of a text, in order; a block that is never closed hides what follows. Linear. */
export function outermostFences(text: string): readonly Fence[] {
  const fences: Fence[] = [];
  const open = new OpenRuns();
  let outer = { tag: "", start: 0 };
  for (let at = text.indexOf("```"), end = 0; at >= 0; at = text.indexOf("```", end)) {
    end = endOfRun(text, at);
    const ticks = end - at;
    if (isClosing(text, end)) {
      if (open.close(ticks) && open.isEmpty) {
        fences.push({ tag: outer.tag, content: contentOf(text.slice(outer.start, at)) });
      }
    } else {
      const tagEnd = endOfTag(text, end);
      if (open.isEmpty) outer = { tag: text.slice(end, tagEnd), start: tagEnd };
      open.push(ticks);
      end = tagEnd;
    }
  }
  return fences;
}

/** The lengths of the opening runs of all open blocks, the outermost first. */
class OpenRuns {
  readonly #runs: number[] = [];
  /** The shortest run down to each block: whether any can be closed is known without a search. */
  readonly #shortest: number[] = [];

  get isEmpty(): boolean {
    return this.#runs.length === 0;
  }

  push(ticks: number): void {
    this.#runs.push(ticks);
    this.#shortest.push(Math.min(ticks, this.#shortest.at(-1) ?? ticks));
  }

  /** Closes the innermost block whose run is not longer, with the blocks inside it; false when there is none. */
  close(ticks: number): boolean {
    if ((this.#shortest.at(-1) ?? Infinity) > ticks) return false;
    let run = Infinity;
    while (run > ticks) {
      run = this.#runs.pop() ?? 0;
      this.#shortest.pop();
    }
    return true;
  }
}

const BACKTICK = 96;
const LESS = 60;

function endOfRun(text: string, from: number): number {
  let end = from;
  while (text.charCodeAt(end) === BACKTICK) end++;
  return end;
}

function isClosing(text: string, at: number): boolean {
  return at === text.length || text.charCodeAt(at) === LESS || isSpace(text.charCodeAt(at));
}

function endOfTag(text: string, from: number): number {
  let end = from;
  while (!isClosing(text, end) && text.charCodeAt(end) !== BACKTICK) end++;
  return end;
}

/** White space as `trim` has it; `code` is a UTF-16 unit. */
function isSpace(code: number): boolean {
  return code < 0xa0 ? code === 0x20 || (code >= 0x09 && code <= 0x0d) : WIDE_SPACES.has(code);
}

const WIDE_SPACES: ReadonlySet<number> = new Set(
  [0xa0, 0x1680, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000, 0xfeff],
).union(new Set(Array.from({ length: 11 }, (_, index) => 0x2000 + index)));

function contentOf(text: string): string {
  const lineEnd = text.indexOf("\n");
  return (lineEnd < 0 ? text : text.slice(lineEnd)).trim();
}
