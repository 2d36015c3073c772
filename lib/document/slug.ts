const MARKS_OF_ASCII = /([A-Za-z0-9])[\u0300-\u036f]+/g;
/** Variation selectors, and the box around a key, as in an emoji: nobody types them. */
const LOOKS = /[\uFE00-\uFE0F\u20E3]+/g;
const BETWEEN_WORDS = /[^\p{L}\p{N}\p{M}]+/gu;

/** The auto id of a title, before it gets a number (documents.md 5.2); `section` when nothing is left of it. */
export function slug(title: string): string {
  const plain = title.replace(LOOKS, "").normalize("NFKD").replace(MARKS_OF_ASCII, "$1").normalize("NFC")
    .toLowerCase();
  const words = plain.split(BETWEEN_WORDS).filter((word) => word !== "");
  return words.length === 0 ? "section" : words.join("-");
}
