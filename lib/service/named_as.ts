/** How errors name what was given: as flags of the command line, or as fields of a request (`input.x`). */
export type NamedAs = "flag" | "field";
