enum Level {
  Low = 1,
  High,
}
const enum Fixed {
  A = "a",
}
abstract class Base<Value> {
  constructor(protected readonly value: Value, private times = 2) {}
  abstract shown(): string;
  repeated(): string {
    return this.shown().repeat(this.times);
  }
}
class Text extends Base<string> {
  override shown(): string {
    return `<${this.value}>`;
  }
}
namespace Deep {
  export const inside = "inside" as const;
}
type Pair<T extends unknown[]> = { [K in keyof T]: T[K] };
function over(value: string): string;
function over(value: number): number;
function over(value: string | number): string | number {
  return value;
}

export default {
  name: "TypeScript",
  description: "Has what TypeScript has.",
  run(_input: Record<string, never>) {
    const pair = ["x", 1] satisfies Pair<[string, number]>;
    const maybe = { deep: { value: 5 as number | undefined } };
    return {
      levels: [Level.Low, Level.High, Level[2]],
      fixed: Fixed.A,
      text: new Text("t").repeated(),
      inside: Deep.inside,
      pair,
      value: maybe?.deep.value!,
      generic: (<T>(x: T): T => x)<number>(over(3)),
    };
  },
};
