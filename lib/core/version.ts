/** The version of Orrery; a test holds it to that of `deno.json`. */
export const VERSION = "0.1.0";
