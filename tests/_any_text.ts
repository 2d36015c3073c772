import fc from "fast-check";

/** Half of them ordinary letters, the others anything that a text can hold but half a surrogate pair. */
const character = fc.oneof(
  fc.integer({ min: 0x20, max: 0x7e }),
  fc.integer({ min: 0, max: 0xd7ff }),
  fc.integer({ min: 0xe000, max: 0x10ffff }),
).map((code) => String.fromCodePoint(code));

/** Any text at all: as fast-check's own with the unit `binary`, which takes seconds to make its table of all characters. */
export function anyText({ maxLength }: { readonly maxLength?: number } = {}): fc.Arbitrary<string> {
  return fc.array(character, { maxLength }).map((characters) => characters.join(""));
}
