/** `key:` at the beginning of a line. */
export interface ParameterLine {
  readonly key: string;
  /** All that stands behind the colon, blanks too. */
  readonly rest: string;
}

const PARAMETER = /^([\p{L}_][\p{L}\p{Nd}_-]*)[ \t]*:(?=[ \t]|$)/u;

/** Reads one line, without its line end, as `key:`; undefined when it is something else (documents.md 2.7). */
export function parameterLine(line: string): ParameterLine | undefined {
  const found = PARAMETER.exec(line);
  const key = found?.[1];
  return found === null || key === undefined ? undefined : { key, rest: line.slice(found[0].length) };
}
