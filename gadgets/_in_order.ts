/** How work on a stream of items is spread. */
export interface InOrderOptions<Item, Result> {
  /** How many items are worked on at once, at most. */
  readonly atOnce: number;
  /** What an item weighs, such as its bytes; 0 by default. */
  readonly weigh?: (item: Item) => number;
  /** What the items worked on at once weigh together, at most; one alone may weigh more. */
  readonly maxWeight?: number;
  readonly work: (item: Item) => Promise<Result>;
}

/** Works on several items at once and gives the results in the order of the items. */
export async function* inOrder<Item, Result>(
  source: AsyncIterable<Item>,
  options: InOrderOptions<Item, Result>,
): AsyncGenerator<Result> {
  const { atOnce, weigh = () => 0, maxWeight = Infinity, work } = options;
  const running: { readonly result: Promise<Result>; readonly weight: number }[] = [];
  let total = 0;
  for await (const item of source) {
    const weight = weigh(item);
    while (running.length >= atOnce || total + weight > maxWeight) {
      const first = running.shift();
      if (first === undefined) break;
      total -= first.weight;
      yield await first.result;
    }
    const result = work(item);
    // It is awaited later, or never when the consumer stops.
    result.catch(() => {});
    running.push({ result, weight });
    total += weight;
  }
  for (const { result } of running) yield await result;
}
