/** A value in TypeScript that takes its parser for ever: each level is read twice, and so is what is in it. */
export const ENDLESS_CLASS = `${"class extends ".repeat(60)}Object${" {}".repeat(60)}`;
