import type { JsonSchema } from "../core/gadget.ts";
import { isWithin, placed, schemaAt, valueAt, WRAPPERS } from "./failure_place.ts";
import type { PlacedFailure } from "./failure_place.ts";
import { didYouMean, findingText, inOrderOf, MAX_PROBLEMS, nearOne } from "./finding.ts";
import type { Finding } from "./finding.ts";
import { wordsFor } from "./failure_words.ts";
import { toPointer } from "./issue.ts";
import type { Issue } from "./issue.ts";
import { GAVE_UP } from "./json_validator.ts";
import type { Failure } from "./json_validator.ts";
import { dependentFindings, missingFindings, unknownFinding } from "./property_findings.ts";
import { schemaList } from "./schema_node.ts";
import { joined } from "./type_text.ts";

/** A list of 100,000 wrong items is explained by its first ones. */
const MAX_FAILURES = 1000;

/**
 * The failures of a value as issues in plain words: without duplicates, in the order in which the value has
 * their places.
 */
export function explainFailures(
  failures: readonly Failure[],
  value: unknown,
  root: JsonSchema,
): readonly Issue[] {
  const findings = new Explanation(value, root).findings(placed(failures.slice(0, MAX_FAILURES)));
  const issues = new Map<string, Issue>();
  for (const finding of inOrderOf(value, findings)) {
    const issue = { pointer: toPointer(finding.where), message: findingText(finding) };
    issues.set(`${issue.pointer}\n${issue.message}`, issue);
  }
  return [...issues.values()];
}

class Explanation {
  readonly #value: unknown;
  readonly #root: JsonSchema;

  constructor(value: unknown, root: JsonSchema) {
    this.#value = value;
    this.#root = root;
  }

  findings(failures: readonly PlacedFailure[]): readonly Finding[] {
    const out: Finding[] = [];
    for (let i = 0; i < failures.length && out.length < MAX_PROBLEMS; i++) {
      const failure = failures[i];
      if (failure === undefined || WRAPPERS.has(failure.keyword) || isOfOneItem(failure)) continue;
      const inside = insideOf(failure, failures.slice(i + 1));
      out.push(...this.#one(failure, inside));
      i += inside.length;
    }
    const fixed = new Set(out.filter(isFixedValue).map(({ where }) => toPointer(where)));
    return out.filter(({ keyword, where }) => keyword !== "type" || !fixed.has(toPointer(where)));
  }

  #one(failure: PlacedFailure, inside: readonly PlacedFailure[]): readonly Finding[] {
    const { keyword, where } = failure;
    const schema = schemaAt(this.#root, failure.at.slice(0, -1));
    switch (keyword) {
      case "anyOf":
      case "oneOf":
        return this.#union(failure, inside);
      case "required":
        return missingFindings(valueAt(this.#value, where), { where, schema, root: this.#root });
      case "dependentRequired":
        return dependentFindings(valueAt(this.#value, where), { where, schema, root: this.#root });
      case "propertyNames":
        return this.#badName(inside);
      case "false:additionalProperties":
      case "false:unevaluatedProperties":
        return [
          unknownFinding({ where, schema: schemaAt(this.#root, failure.at.slice(0, -2)), root: this.#root }),
        ];
      case "false:items":
      case "false:unevaluatedItems":
        return [text(failure, `one item too many, expected at most ${where.at(-1)}`)];
      case GAVE_UP:
        return [text(failure, `cannot be checked: ${failure.error}`)];
      default:
        return [
          keyword.startsWith("false:") ? text(failure, "not allowed here") : this.#leaf(failure, schema),
        ];
    }
  }

  #leaf(failure: PlacedFailure, schema: JsonSchema, value = valueAt(this.#value, failure.where)): Finding {
    const { keyword, where, error } = failure;
    const words = wordsFor(keyword, { schema, value, root: this.#root, error });
    if (words === undefined) return text(failure, error);
    const near = typeof value === "string" ? nearOne(value, words.near ?? []) : undefined;
    return { where, keyword, expected: words.expected, found: words.found, ...didYouMean(near) };
  }

  #badName(inside: readonly PlacedFailure[]): readonly Finding[] {
    return inside.filter(({ keyword }) => !WRAPPERS.has(keyword)).map((failure) => {
      const schema = schemaAt(this.#root, failure.at.slice(0, -1));
      const { expected } = this.#leaf(failure, schema, failure.where.at(-1));
      return text(failure, `cannot be a name here, expected ${expected || "another name"}`);
    });
  }

  /** Only what is wrong with the alternative that was most likely meant. */
  #union(failure: PlacedFailure, inside: readonly PlacedFailure[]): readonly Finding[] {
    const matches = Number(/\(([0-9]+) matches\)/.exec(failure.error)?.[1] ?? 0);
    if (matches > 1) return [text(failure, `fits ${matches} alternatives, expected exactly one`)];
    const branches = schemaList(schemaAt(this.#root, failure.at.slice(0, -1))[failure.keyword])
      .map((_, index) =>
        this.findings(inside.filter(({ at }) => isWithin([...failure.at, String(index)], at)))
      )
      .filter((findings) => findings.length > 0);
    const near = branches.filter((findings) => !findings.some((finding) => isOfKind(finding, failure.where)));
    if (near.length === 0) {
      return [combined(failure, branches.flat().filter((finding) => isOfKind(finding, failure.where)))];
    }
    return this.#nearest(failure, near);
  }

  #nearest(failure: PlacedFailure, near: readonly (readonly Finding[])[]): readonly Finding[] {
    const tagsOf = (findings: readonly Finding[]) =>
      findings.filter((finding) => isTagOf(finding, failure.where));
    const tagged = near.filter((findings) => tagsOf(findings).length === 0);
    const tag = tagsOf(near[0] ?? [])[0];
    if (tagged.length === 0 && tag !== undefined) {
      const same = near.flatMap(tagsOf).filter(({ where }) => where.at(-1) === tag.where.at(-1));
      return [combined({ ...failure, where: tag.where }, same)];
    }
    const open = tagged.length === 0 ? near : tagged;
    const [best = []] = [...open].sort((a, b) => a.length - b.length);
    if (open.length === 1) return best;
    return best.map((finding) => ({
      ...finding,
      hint: `${finding.hint ?? ""} (or another of ${open.length} alternatives)`,
    }));
  }
}

/** The failures that came from inside this one. */
function insideOf({ keyword, at }: PlacedFailure, after: readonly PlacedFailure[]): readonly PlacedFailure[] {
  if (!["anyOf", "oneOf", "contains", "propertyNames", "not"].includes(keyword)) return [];
  const end = after.findIndex((next) => !isWithin(at, next.at));
  return end < 0 ? after : after.slice(0, end);
}

/** An item that is not what `contains` looks for: that alone is no error. */
function isOfOneItem({ at }: PlacedFailure): boolean {
  const isName = (index: number) =>
    ["properties", "patternProperties", "dependentSchemas"].includes(at[index] ?? "");
  return at.some((key, index) => key === "contains" && index < at.length - 1 && !isName(index - 1));
}

/** Fixed values tell more than their type, which a schema may name as well. */
const isFixedValue = ({ keyword }: Finding): boolean => keyword === "const" || keyword === "enum";

/** The value itself is of the wrong kind. */
function isOfKind({ keyword, where }: Finding, place: readonly string[]): boolean {
  return ["type", "const", "enum"].includes(keyword) && where.length === place.length;
}

/** A fixed value right below is another one, or missing. */
function isTagOf(finding: Finding, place: readonly string[]): boolean {
  return (isFixedValue(finding) || finding.isTag === true) && finding.where.length === place.length + 1;
}

/** One finding for several alternatives: what any of them expected. */
function combined({ where, keyword }: PlacedFailure, findings: readonly Finding[]): Finding {
  const found = findings.find((finding) => finding.found !== undefined)?.found;
  const hint = findings.find((finding) => finding.hint !== undefined)?.hint;
  const expected = joined(findings.map((finding) => finding.expected));
  return {
    where,
    keyword,
    expected,
    found,
    hint,
  };
}

function text({ where, keyword }: PlacedFailure, text: string): Finding {
  return { where, keyword, expected: "", text };
}
