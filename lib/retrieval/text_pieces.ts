// Borders in a text, each kind finer than the one before. All of them are found in one pass.

import { type TextSpan, trimmedSpan } from "./document_text.ts";

/** How long pieces may be, in UTF-16 units. */
export interface PieceLimits {
  /** Of a paragraph, and of what is cut out of a sentence. */
  readonly target: number;
  /** Of a sentence that stays whole. */
  readonly most: number;
}

/**
 * The paragraphs of a span; of one that is too long its sentences, and of a sentence that is too long its lines, words, or parts of
 * them. They are in order, hold all but blanks, and neither begin nor end with one.
 */
export function textPieces(text: string, span: TextSpan, { target, most }: PieceLimits): readonly TextSpan[] {
  const levels: readonly Level[] = [
    { cut: paragraphs, most: target },
    { cut: sentences, most },
    { cut: lines, most: target },
    { cut: words, most: target },
  ];
  return [...piecesBelow(text, span, { levels, target })];
}

type Cut = (text: string, span: TextSpan) => Iterable<TextSpan>;

interface Level {
  readonly cut: Cut;
  readonly most: number;
}

function* piecesBelow(
  text: string,
  span: TextSpan,
  { levels: [level, ...finer], target }: { readonly levels: readonly Level[]; readonly target: number },
): Generator<TextSpan> {
  if (level === undefined) {
    yield* parts(text, span, target);
    return;
  }
  for (const part of level.cut(text, span)) {
    const piece = trimmedSpan(text, part);
    if (piece === undefined) continue;
    if (piece.end - piece.start <= level.most) yield piece;
    else yield* piecesBelow(text, piece, { levels: finer, target });
  }
}

function paragraphs(text: string, span: TextSpan): Iterable<TextSpan> {
  return between(text, span, { border: /\n[^\S\n]*\n|\f/g });
}

/** What ends with `.`, `!`, `?` or `…` before a blank, but for abbreviations and ordinal numbers. */
export function sentences(text: string, span: TextSpan): Iterable<TextSpan> {
  return between(text, span, { border: /\s+|(?<=[。！？])/g, isBorder: endsSentence });
}

function lines(text: string, span: TextSpan): Iterable<TextSpan> {
  return between(text, span, { border: /\n/g });
}

function words(text: string, span: TextSpan): Iterable<TextSpan> {
  return between(text, span, { border: /\s+/g });
}

function* between(
  text: string,
  { start, end }: TextSpan,
  { border, isBorder = () => true }: {
    readonly border: RegExp;
    readonly isBorder?: (text: string, from: number, to: number) => boolean;
  },
): Generator<TextSpan> {
  const inside = text.slice(start, end);
  let from = start;
  for (const { index, 0: found } of inside.matchAll(border)) {
    const [at, behind] = [start + index, start + index + found.length];
    if (!isBorder(inside, index, index + found.length)) continue;
    yield { start: from, end: at };
    from = behind;
  }
  yield { start: from, end };
}

const ENDS = /[.!?…。！？]["'”’»)\]]{0,3}$/;
const LOWER = /^["'“„«(]{0,2}\p{Ll}/u;
/** One letter as in "z. B." and "J. Doe", a number as in "3. April", and words that are always cut short. */
const SHORT =
  /(?:^|[\s(])(?:\p{L}|\d{1,4}|Dr|Prof|Mr|Mrs|Ms|St|Nr|No|Fig|Abb|vs|etc|ca|bzw|usw|vgl|inkl|exkl|evtl|ggf|approx|e\.g|i\.e|z\.B|d\.h|u\.a)\.$/u;
const LOOK_BACK = 10;

function endsSentence(text: string, from: number, to: number): boolean {
  const before = text.slice(Math.max(0, from - LOOK_BACK), from);
  if (!ENDS.test(before)) return false;
  return !LOWER.test(text.slice(to, to + 4)) && !SHORT.test(before);
}

/** Never between the two halves of a character. */
function* parts(text: string, { start, end }: TextSpan, most: number): Generator<TextSpan> {
  for (let from = start; from < end;) {
    const to = Math.min(end, from + most);
    const isHalf = to < end && /[\uD800-\uDBFF]/.test(text.charAt(to - 1));
    yield { start: from, end: isHalf ? to - 1 : to };
    from = isHalf ? to - 1 : to;
  }
}
