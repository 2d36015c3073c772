/** Something wrong at a place of a JSON value. */
export type Fault =
  & {
    readonly where: readonly string[];
    readonly message: string;
  }
  & (
    | { readonly kind: "type"; readonly types: readonly unknown[] }
    | { readonly kind: "choice"; readonly choices: readonly unknown[] }
    /** `isTag`: its schema lists its values, so that it tells the alternatives of a union apart. */
    | { readonly kind: "missing"; readonly isTag: boolean }
    | { readonly kind: "unknown" }
    | { readonly kind: "other" }
  );

/** The value at a place is of another type. */
export function typeFault(where: readonly string[], types: readonly unknown[]): Fault {
  return { where, kind: "type", types, message: `must be ${types.join(",")}` };
}

/** The value at a place is none of those that are listed. */
export function choiceFault(where: readonly string[], choices: readonly unknown[]): Fault {
  return { where, kind: "choice", choices, message: `must be one of ${listText(choices)}` };
}

/** None of some alternatives takes the value, each because of its type or its fixed values. */
export function combinedFault(where: readonly string[], faults: readonly Fault[]): Fault {
  const types = unique(faults.flatMap((fault) => fault.kind === "type" ? fault.types : []));
  const choices = unique(faults.flatMap((fault) => fault.kind === "choice" ? fault.choices : []));
  if (choices.length === 0 && types.length > 0) return typeFault(where, types);
  if (types.length === 0 && choices.length > 0) return choiceFault(where, choices);
  const message = types.length === 0
    ? "must match one of the alternatives"
    : `must be ${types.join(",")} or one of ${listText(choices)}`;
  return { where, kind: "other", message };
}

function listText(choices: readonly unknown[]): string {
  return choices.map((choice) => JSON.stringify(choice)).join(", ");
}

function unique(values: readonly unknown[]): readonly unknown[] {
  return [...new Map(values.map((value) => [JSON.stringify(value), value])).values()];
}
