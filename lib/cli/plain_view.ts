import type { Output } from "../host/output.ts";
import { PlainLines } from "../render/plain_lines.ts";
import type { PlainLinesOptions } from "../render/plain_lines.ts";
import type { RunView } from "./run_view.ts";

/** Lines, as they come: for a pipe, a log file, and a terminal that is to stay plain. */
export function plainView(output: Output, options: PlainLinesOptions): RunView {
  const lines = new PlainLines(options);
  return {
    event: (event) => output.write(lines.text(event)),
    log: (source, text) => output.write(lines.log(source, text)),
    notice: (text) => output.write(lines.notice(text)),
    pause: () => Promise.resolve(),
    resume: () => {},
    end: () => Promise.resolve(),
    abandon: () => {},
  };
}
