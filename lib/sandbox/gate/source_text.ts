import { SourceError, spanAt } from "../../core/source_error.ts";

/** The text of a module as it was written: errors point into it. */
export interface SourceText {
  readonly file: string;
  readonly text: string;
}

/** What is wrong at an offset of the text (UTF-16 units, from 0), and what to do about it. */
export function gateError(
  source: SourceText,
  options: {
    readonly at: number;
    readonly message: string;
    readonly hint?: string;
    readonly length?: number;
  },
): SourceError {
  const { at, message, hint, length } = options;
  return new SourceError(message, {
    span: spanAt(source.text, at, { file: source.file, length }),
    source: source.text,
    code: GATE_CODE,
    hint,
  });
}

/** The code of every error of the gate. */
export const GATE_CODE = "E-gadget-module";
