/** Where a value of a JSON text stands, in UTF-16 units. */
export interface JsonPlace {
  readonly start: number;
  readonly end: number;
}

type Path = readonly (string | number)[];

/** What a text that `JSON.parse` took is made of, but for commas and colons. */
const TOKEN = /"(?:[^"\\]+|\\.)*"|[[\]{}]|[^\s[\]{},:"]+/g;

/** The place of the value at a path of a text that is JSON; undefined when nothing is there. Of two keys of one name the last counts. */
export function jsonPlace(text: string, path: Path): JsonPlace | undefined {
  const tokens = text.matchAll(TOKEN);
  const next = () => tokens.next().value ?? { 0: "]", index: text.length };
  let found: JsonPlace | undefined;
  /** @param way leads to the wanted value from here, and is undefined where it cannot be inside */
  const read = ({ 0: open, index: start }: ReturnType<typeof next>, way: Path | undefined): void => {
    let end = start + open.length;
    if (open === "{" || open === "[") {
      let token = next();
      for (let item = 0; token[0] !== "}" && token[0] !== "]"; token = next()) {
        const key: unknown = open === "[" ? item++ : JSON.parse(token[0]);
        const isOnWay = way !== undefined && way.length > 0 && way[0] === key;
        if (isOnWay) found = undefined;
        read(open === "[" ? token : next(), isOnWay ? way.slice(1) : undefined);
      }
      end = token.index + 1;
    }
    if (way?.length === 0) found = { start, end };
  };
  read(next(), path);
  return found;
}
