import { dereference, validate } from "@cfworker/json-schema";
import type { OutputUnit } from "@cfworker/json-schema";
import { type JsonSchema, messageOf } from "../core/core.ts";
import type { PreparedSchema } from "./prepare_schema.ts";
import type { SchemaNode } from "./schema_node.ts";

/** One error of the validator: which keyword, where in the schema and where in the value. */
export type Failure = Readonly<OutputUnit>;

/** The keyword of the failure that says that the validator itself gave up. */
export const GAVE_UP = "gave-up";

// A recursive union can cost time that doubles with every level of a value. Every recursion of a schema goes
// through a reference, so their number bounds what one input may cost: some seconds for a large one that is
// made for it.
const REFERENCES = { base: 100_000, each: 200, most: 500_000 };

type Lookup = ReturnType<typeof dereference>;
const lookups = new WeakMap<JsonSchema, Lookup>();

/** Checks values of one input against a prepared schema and its parts. Its methods never throw. */
export class JsonValidator {
  readonly root: JsonSchema;
  readonly #lookup: Lookup;
  #referencesLeft: number;

  /** `size`: of the input, as measured. */
  constructor({ root }: PreparedSchema, { size }: { readonly size: number }) {
    this.root = root;
    this.#referencesLeft = Math.min(REFERENCES.most, REFERENCES.base + REFERENCES.each * size);
    this.#lookup = new Proxy(lookupOf(root), { get: (lookup, uri) => this.#follow(lookup, uri) });
  }

  /** True when the value is valid against `node`, a part of the schema. */
  fits(node: SchemaNode, value: unknown): boolean {
    return this.#validate(node, { value, firstOnly: true }).length === 0;
  }

  /** All failures of a value against the whole schema; none when it is valid. */
  failuresOf(value: unknown): readonly Failure[] {
    const first = this.#validate(this.root, { value, firstOnly: true });
    if (first.length === 0) return first;
    const all = this.#validate(this.root, { value, firstOnly: false });
    return all.some(({ keyword }) => keyword === GAVE_UP) ? first : all;
  }

  #validate(
    node: SchemaNode,
    { value, firstOnly }: { value: unknown; firstOnly: boolean },
  ): readonly Failure[] {
    try {
      return validate(value, mutable(node), "2020-12", this.#lookup, firstOnly).errors;
    } catch (error) {
      const reason = error instanceof RangeError ? "nested too deep for its schema" : messageOf(error);
      return [{ keyword: GAVE_UP, keywordLocation: "#", instanceLocation: "#", error: reason }];
    }
  }

  #follow(lookup: Lookup, uri: string | symbol): unknown {
    if (--this.#referencesLeft < 0) throw new Error("too deep for a schema with so many alternatives");
    return typeof uri === "string" ? lookup[uri] : undefined;
  }
}

function lookupOf(root: JsonSchema): Lookup {
  let lookup = lookups.get(root);
  if (lookup === undefined) {
    lookup = dereference(mutable(root));
    lookups.set(root, lookup);
  }
  return lookup;
}

// The validator's own type of a schema is a mutable one: it writes hidden properties, here into the prepared
// copy.
function mutable(node: SchemaNode): Parameters<typeof validate>[1] {
  return node as Parameters<typeof validate>[1];
}
