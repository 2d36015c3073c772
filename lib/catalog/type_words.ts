import { dirname, isAbsolute, relative, sep } from "node:path";

/** A property of a type, in quotes where it needs them. */
export function propertyName(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);
}

/** Names as a union of literal types; `never` for none. */
export function namesType(names: readonly string[]): string {
  return names.length === 0 ? "never" : names.map((name) => JSON.stringify(name)).join(" | ");
}

/** The type of what a module exports. */
export function exportType(specifier: string, name: string): string {
  return `typeof import(${JSON.stringify(specifier)})[${JSON.stringify(name)}]`;
}

/** How a module is imported from a file; both are absolute paths. */
export function specifierOf(path: string, { from }: { readonly from: string }): string {
  const way = relative(dirname(from), path).replaceAll(sep, "/");
  const isAbove = way.startsWith("../") || isAbsolute(way);
  return `${isAbove ? "" : "./"}${way}`.replaceAll(/[%#?\p{Cc}]/gu, encodeURIComponent); // a specifier is read as a URL
}
