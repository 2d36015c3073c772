import type { Usage } from "./model.ts";

/** Sums token counts. A count stays absent until one of the two has it; a cost that one lacks is not known for both. */
export function addUsage(a: Usage, b: Usage): Usage {
  const sum = (x: number | undefined, y: number | undefined): number | undefined =>
    x === undefined ? y : y === undefined ? x : x + y;
  const cached = sum(a.cached, b.cached);
  const reasoning = sum(a.reasoning, b.reasoning);
  const isEmpty = ({ input, output }: Usage): boolean => input === 0 && output === 0;
  const cost = isEmpty(a) ? b.cost : isEmpty(b) ? a.cost : both(a.cost, b.cost);
  return {
    input: a.input + b.input,
    output: a.output + b.output,
    ...(cached === undefined ? {} : { cached }),
    ...(reasoning === undefined ? {} : { reasoning }),
    ...(cost === undefined ? {} : { cost }),
  };
}

const both = (x: number | undefined, y: number | undefined): number | undefined =>
  x === undefined || y === undefined ? undefined : inDollars(x + y);

/** Without what binary fractions add far behind the point: no price is as small. */
export const inDollars = (sum: number): number => Number(sum.toFixed(12));
