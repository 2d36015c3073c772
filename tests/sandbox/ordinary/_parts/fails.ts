type Words = readonly string[];

export function fail(...words: Words): never {
  const all: Words = words;
  throw new TypeError(`failed ${all.join()}`);
}
