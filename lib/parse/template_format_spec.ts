/** What follows the colon of a field, read: `*>+#012,.3f`. */
export interface FormatSpec {
  /** Without the colon. */
  readonly source: string;
  readonly fill: string | undefined;
  readonly align: string | undefined;
  readonly sign: string | undefined;
  /** `#` */
  readonly isPrefixed: boolean;
  /** `0` in front of the width. */
  readonly isZeroFilled: boolean;
  /** In code points; 0 when none is given. */
  readonly width: number;
  readonly grouping: string | undefined;
  readonly precision: number | undefined;
  readonly type: string | undefined;
}

const SPEC = /^(?:(.)?([<>=^]))?([+\- ])?(#)?(0)?(\d+)?([,_])?(?:\.(\d+))?([bdoxXeEfFgG%s])?$/su;
const LONGEST_SPEC = 64;
// Beyond this a slip of the pen, or a value that a model gave, would fill the memory.
const WIDEST = 100_000;

/** Reads a format spec (prompts.md 2); undefined when it is none, or one that no value could ever fit. */
export function parseFormatSpec(source: string): FormatSpec | undefined {
  const match = source.length > LONGEST_SPEC ? null : SPEC.exec(source);
  if (match === null) return undefined;
  const [, fill, align, sign, prefix, zero, width = "0", grouping, precision, type] = match;
  const spec: FormatSpec = {
    source,
    fill,
    align,
    sign,
    isPrefixed: prefix !== undefined,
    isZeroFilled: zero !== undefined,
    width: Number(width),
    grouping,
    precision: precision === undefined ? undefined : Number(precision),
    type,
  };
  return isPossible(spec) ? spec : undefined;
}

function isPossible({ type = "", precision, grouping, sign, isPrefixed, align, width }: FormatSpec): boolean {
  if (width > WIDEST) return false;
  if (type === "s") return (sign ?? grouping) === undefined && !isPrefixed && align !== "=";
  if (type === "") return true;
  if (precision !== undefined && ("dboxX".includes(type) || precision > WIDEST)) return false;
  return grouping !== "," || !"boxX".includes(type);
}
