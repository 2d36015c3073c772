/** A text with its variables replaced. */
export interface Expanded {
  readonly text: string;
  /** The variables that were asked for. */
  readonly names: readonly string[];
  /** Those that are not set and have no default. */
  readonly missing: readonly string[];
}

/**
 * Replaces `${NAME}` by a variable, and `${NAME:-default}` by the default where it is not set or empty. Other text with `${` stays as it
 * is, and what a variable holds is not looked at again.
 */
export function expandVariables(text: string, variable: (name: string) => string | undefined): Expanded {
  const names: string[] = [];
  const missing: string[] = [];
  const replaced = text.replaceAll(
    /\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g,
    (_whole, name: string, other: string | undefined) => {
      names.push(name);
      const value = variable(name);
      if (other !== undefined) return value === undefined || value === "" ? other : value;
      if (value === undefined) missing.push(name);
      return value ?? "";
    },
  );
  return { text: replaced, names, missing };
}
