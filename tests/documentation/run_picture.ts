// Draws a recording of a run as an SVG that moves: the screens of the live view, one below the other on a strip that CSS pulls through a
// window. No script, no font and nothing else from outside, so that a page may show it by `<img>`.
import type { RunEvent } from "../../lib/core/event.ts";
import { cellWidth, paintFor } from "../../lib/render/cells.ts";
import { renderLive } from "../../lib/render/frame.ts";
import { createRows } from "../../lib/render/rows.ts";
import { BlankLines, InterimText, printableLine, resultText } from "../../lib/render/shown_text.ts";

/** A run to draw. */
export interface Recording {
  /** What is typed to start it. */
  readonly command: string;
  /** With the times at which they were told. */
  readonly events: readonly RunEvent[];
}

/** What the window shows, and for how long. */
interface Screen {
  readonly ms: number;
  /** With ANSI codes. */
  readonly lines: readonly string[];
}

const COLUMNS = 84;
const TYPED_AT_ONCE = 4;
const TYPED_MS = 70;
const BEFORE_START_MS = 500;
const TICK_MS = 125;
const LAST_MS = 5000;
const MAX_ROWS = 100;
const paint = paintFor(true);

/** The screens of a recording: the command is typed, the run goes on tick by tick, and its result stays. */
function screensOf({ command, events }: Recording): readonly Screen[] {
  const run = new Screens();
  const prompt = paint("green", "$ ");
  const screens: Screen[] = [];
  for (let typed = 0; typed < command.length; typed += TYPED_AT_ONCE) {
    screens.push({ ms: TYPED_MS, lines: [`${prompt}${command.slice(0, typed)}█`] });
  }
  screens.push({ ms: BEFORE_START_MS, lines: [`${prompt}${command}█`] });
  const told = [...events];
  for (let tick = 1; told.length > 0; tick++) {
    while (told[0] !== undefined && told[0].at <= tick * TICK_MS) run.take(told.shift() as RunEvent);
    const isLast = told.length === 0;
    const lines = [`${prompt}${command}`, ...(isLast ? run.last() : run.now(tick))];
    screens.push({ ms: isLast ? LAST_MS : TICK_MS, lines });
  }
  return screens;
}

/** What lib/cli/run/screen.ts shows of the same events. */
class Screens {
  readonly #rows = createRows();
  #openLine = "";
  readonly #interim = new InterimText();
  readonly #blankLines = new BlankLines();
  readonly #above: string[] = [];
  #result = "";

  take(event: RunEvent): void {
    this.#rows.take(event);
    const all = this.#openLine + this.#blankLines.fold(this.#interim.take(event));
    const end = all.lastIndexOf("\n") + 1;
    this.#openLine = all.slice(end);
    if (end > 0) this.#above.push(...all.slice(0, end - 1).split("\n").map((line) => paint("dim", line)));
    if (event.type === "call-log") {
      this.#above.push(paint("dim", `${event.invocationId}: ${printableLine(event.text)}`));
    }
    if (event.type === "run-end" && event.value !== undefined) this.#result = resultText(event.value);
  }

  now(tick: number): readonly string[] {
    const growing = this.#interim.held.trimEnd();
    const openLine = this.#openLine || growing.slice(growing.lastIndexOf("\n") + 1);
    return this.#frame({ openLine, withNotes: true, tick });
  }

  last(): readonly string[] {
    const frame = this.#frame({ openLine: "", withNotes: false, tick: 0 });
    return [...frame, ...this.#result.trimEnd().split("\n")];
  }

  #frame({ openLine, withNotes, tick }: {
    readonly openLine: string;
    readonly withNotes: boolean;
    readonly tick: number;
  }): readonly string[] {
    const size = { columns: COLUMNS, rows: MAX_ROWS, color: true, spinnerFrame: tick, nowMs: tick * TICK_MS };
    return [...this.#above, ...renderLive(this.#rows, { ...size, openLine, withNotes })];
  }
}

/** The colours of a page. */
export type Theme = "light" | "dark";

const COLORS: Readonly<Record<Theme, Readonly<Record<string, string>>>> = {
  light: {
    paper: "#ffffff",
    edge: "#d0d7de",
    text: "#1f2328",
    dim: "#656d76",
    red: "#cf222e",
    green: "#1a7f37",
    yellow: "#9a6700",
    cyan: "#0969da",
  },
  dark: {
    paper: "#0d1117",
    edge: "#3d444d",
    text: "#e6edf3",
    dim: "#8d96a0",
    red: "#f85149",
    green: "#3fb950",
    yellow: "#d29922",
    cyan: "#58a6ff",
  },
};

/** Of a style that the live view uses, by the code that begins it: its class, a letter since there are thousands, and its colour. */
const LOOKS: ReadonlyMap<string, readonly [className: string, color: string]> = new Map([
  ["2", ["d", "dim"]],
  ["31", ["r", "red"]],
  ["32", ["g", "green"]],
  ["33", ["y", "yellow"]],
  ["36", ["c", "cyan"]],
]);

const CELL = 9;
const FONT_SIZE = 15;
const LINE = 20;
const MARGIN = 16;
const BAR = 30;

/** Draws it. */
export function runPicture(recording: Recording, theme: Theme): string {
  const screens = screensOf(recording);
  const colors = COLORS[theme];
  const height = Math.max(...screens.map(({ lines }) => lines.length)) * LINE + 6;
  const width = COLUMNS * CELL;
  const all = { width: width + 2 * MARGIN, height: height + BAR + MARGIN };
  const rows = new Rows();
  const strip = screens.map(({ lines }, nth) =>
    lines.map((line, row) => rows.use(line, nth * height + row * LINE + FONT_SIZE)).join("")
  ).join("\n");
  const styles = [...LOOKS.values()].map(([name, color]) => `.${name}{fill:${colors[color]}}`).join("");
  return `<!-- deno-fmt-ignore-file -->
<svg xmlns="http://www.w3.org/2000/svg" width="${all.width}" height="${all.height}" viewBox="0 0 ${all.width} ${all.height}" role="img">
<title>A recording of: ${escaped(recording.command)}</title>
<style>
text{font:${FONT_SIZE}px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:${colors.text};white-space:pre}
${styles}
#strip{transform:translateY(${-height * (screens.length - 1)}px);animation:${
    durationOf(screens)
  }ms step-end infinite strip}
@media (prefers-reduced-motion:reduce){#strip{animation:none}}
@keyframes strip{${keyframes(screens, height)}}
</style>
<rect x=".5" y=".5" width="${all.width - 1}" height="${
    all.height - 1
  }" rx="8" fill="${colors.paper}" stroke="${colors.edge}"/>
${[0, 1, 2].map((nth) => `<circle cx="${20 + nth * 18}" cy="17" r="5" fill="${colors.edge}"/>`).join("")}
<defs>
${rows.definitions()}
</defs>
<svg x="${MARGIN}" y="${BAR + 4}" width="${width}" height="${height}"><g id="strip">
${strip}
</g></svg>
</svg>
`;
}

function durationOf(screens: readonly Screen[]): number {
  return screens.reduce((sum, { ms }) => sum + ms, 0);
}

function keyframes(screens: readonly Screen[], height: number): string {
  const all = durationOf(screens);
  let before = 0;
  return screens.map(({ ms }, nth) => {
    const share = Number((before / all * 100).toFixed(2));
    before += ms;
    return `${share}%{transform:translateY(${-nth * height}px)}`;
  }).join("");
}

/** Each line is drawn once, and used wherever it stands. */
class Rows {
  readonly #ids = new Map<string, string>();

  use(line: string, y: number): string {
    if (line === "") return "";
    const id = this.#ids.get(line) ?? `r${this.#ids.size.toString(36)}`;
    this.#ids.set(line, id);
    return `<use href="#${id}" y="${y}"/>`;
  }

  definitions(): string {
    return [...this.#ids].map(([line, id]) => `<text id="${id}">${spansOf(line)}</text>`).join("\n");
  }
}

/** Each group of words begins at its own cell: the marks of a font may be wider than its letters. */
function spansOf(line: string): string {
  let cell = 0;
  let look = "";
  let spans = "";
  for (const [part, , code] of line.matchAll(/(\p{Cc}\[(\d+)m)|[^\s\p{Cc}]+(?: [^\s\p{Cc}]+)*| +/gu)) {
    if (code !== undefined) {
      look = LOOKS.get(code)?.[0] ?? "";
      continue;
    }
    if (part.trim() !== "") {
      const place = cell === 0 ? "" : ` x="${cell * CELL}"`;
      spans += `<tspan${place}${look === "" ? "" : ` class="${look}"`}>${escaped(part)}</tspan>`;
    }
    cell += cellWidth(part);
  }
  return spans;
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
