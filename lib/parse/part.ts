/** What was read from a part of a parameter, or what is wrong with it. */
export type Part<T> = { readonly value: T } | { readonly problem: string };

/** What to say of something that should be text. */
export function notText(label: string, value: unknown): string {
  return `${label} must be text${typeof value === "object" && value !== null ? "" : " (put it in quotes)"}`;
}
