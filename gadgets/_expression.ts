// An expression becomes a list of operations for a stack (reverse Polish form) and is then run in a loop: only brackets,
// signs and powers nest the parser, and their depth is bounded, so no text of any size overflows the stack.

import { compileExpression } from "./_expression_compiler.ts";
import { runExpression, type Variables } from "./_expression_machine.ts";
import { expressionError } from "./_expression_tokens.ts";

export type { Variables };

const MAX_LENGTH = 100_000;

/**
 * Gives the value of an arithmetic expression: a finite number, or true or false for a comparison. Nothing is evaluated
 * as code. `^` binds from the right and tighter than a sign before it (`-2^2` is -4); `%` has the sign of its left side.
 *
 * @throws {SourceError} with line and column, for what cannot be read and for what has no finite value
 */
export function evaluateExpression(text: string, variables: Variables = {}): number | boolean {
  if (text.length > MAX_LENGTH) {
    throw expressionError(text, { kind: "end", text: "", offset: 0 }, {
      what: () => `Cannot read expression: it has ${text.length} characters, at most ${MAX_LENGTH} are read`,
      hint: `Put long lists of numbers into "variables" and name them: sum(prices).`,
    });
  }
  return runExpression(text, compileExpression(text, Object.keys(variables)), variables);
}
