// Bounds of one effect of a gadget. What is beyond them is an error that says so: nothing is cut.

/** Of the bytes beside an effect or its reply: 32 MiB. A frame has these and some JSON. */
export const MAX_EFFECT_BYTES = 32 * 1024 * 1024;
/** Of the words of an effect: a path, a URL, headers, arguments. */
export const MAX_EFFECT_TEXT = 1024 * 1024;

/** The bound in words. */
export const EFFECT_BYTES_WORDS = `${MAX_EFFECT_BYTES} bytes (32 MiB)`;
