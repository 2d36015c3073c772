/** The functions of RFC 9535, 2.4. */
export const PATH_FUNCTIONS = ["length", "count", "match", "search", "value"] as const;

/** The name of one. */
export type PathFunctionName = typeof PATH_FUNCTIONS[number];
