import fc from "fast-check";
import assert from "node:assert/strict";
import { defaultRuntime, definePrompt, PromptError, PromptRegistry, registerPrompt } from "../../../mod.ts";
import cases from "../../spec/prompts/registry.json" with { type: "json" };

interface Operation {
  readonly op: string;
  readonly path?: string;
  readonly template?: string;
  readonly overwrite?: boolean;
}

function perform(registry: PromptRegistry, { op, path, template = "", overwrite }: Operation): unknown {
  switch (op) {
    case "register":
      registry.register(definePrompt({ template, ...(path !== undefined && { path }) }), {
        ...(overwrite !== undefined && { overwrite }),
      });
      return "ok";
    case "get":
      return registry.get(path ?? "").template;
    case "has":
      return registry.has(path ?? "");
    case "keys":
      return registry.keys();
    default:
      throw new Error(`no such operation: ${op}`);
  }
}

for (const { name, input, expected } of cases) {
  Deno.test(`registry: ${name}`, () => {
    const registry = new PromptRegistry();
    for (const [index, operation] of input.ops.entries()) {
      const wanted: unknown = expected[index];
      if (typeof wanted === "object" && wanted !== null && "error" in wanted) {
        assert.throws(() => perform(registry, operation), (error: Error) => {
          assert.ok(error instanceof PromptError && error.code === "registry", String(error));
          assert.ok(error.message.includes(String(wanted.error)), error.message);
          return true;
        });
      } else assert.deepEqual(perform(registry, operation), wanted);
    }
  });
}

Deno.test("registry: what is registered is the prompt itself", () => {
  const registry = new PromptRegistry();
  const prompt = definePrompt({ path: "/a//b", template: "{x}" });
  registry.register(prompt);
  assert.equal(registry.get("a/b/"), prompt);
});

Deno.test("registry: the default runtime is one, and a registry of one's own is not it", () => {
  const registry = new PromptRegistry();
  registerPrompt(definePrompt({ path: "default/a", template: "1" }));
  registerPrompt(definePrompt({ path: "own/a", template: "2" }), { registry });
  assert.equal(defaultRuntime(), defaultRuntime());
  assert.deepEqual(defaultRuntime().prompts.keys(), ["default/a"]);
  assert.deepEqual(registry.keys(), ["own/a"]);
  assert.throws(
    () => registerPrompt(definePrompt({ path: "own/a", template: "3" }), { registry, overwrite: false }),
    /^PromptError: prompt "own\/a" is already registered$/,
  );
});

/** The names that a registry of these prompts takes for what was meant, in their order. */
function nearestNames(wanted: string, known: readonly string[]): readonly string[] {
  const registry = new PromptRegistry();
  for (const path of known) registry.register(definePrompt({ path, template: "" }));
  return meantIn(registry, wanted);
}

function meantIn(registry: PromptRegistry, wanted: string): readonly string[] {
  try {
    registry.get(wanted);
  } catch (error) {
    assert.ok(error instanceof PromptError, String(error));
    const [, list] = /\. Did you mean (".*")\?$/s.exec(error.message) ?? [];
    return list === undefined ? [] : list.slice(1, -1).split('", "');
  }
  return assert.fail(`${wanted} is there`);
}

const pathOf = (path: string): string => definePrompt({ path, template: "" }).path;

Deno.test("did you mean: near names by distance, then by code unit, then the same last segment, three at most", () => {
  assert.deepEqual(nearestNames("folder", ["folders"]), ["folders"]);
  assert.deepEqual(nearestNames("ab", ["abcd", "abc", "aB", "zzzzzz"]), ["aB", "abc", "abcd"]);
  assert.deepEqual(nearestNames("task", ["research/agent/task", "a/b/c/task", "tosk", "elsewhere"]), [
    "tosk",
    "a/b/c/task",
    "research/agent/task",
  ]);
  assert.deepEqual(nearestNames("aaaa", ["aaab", "aaac", "aaad", "aaae"]), ["aaab", "aaac", "aaad"]);
  // Two edits always do; more only in a long name: 0.3 of 10 is 3.
  assert.deepEqual(nearestNames("abcde", ["xyzde"]), []);
  assert.deepEqual(nearestNames("abcdefghij", ["xyzdefghij"]), ["xyzdefghij"]);
  assert.deepEqual(nearestNames("😀😀", ["😀"]), ["😀"]);
});

Deno.test("did you mean: the distance is that of Levenshtein", () => {
  const word = fc.string({ unit: fc.constantFrom("a", "b", "c", "é", "😀"), minLength: 1, maxLength: 12 });
  fc.assert(fc.property(word, word, (wanted, name) => {
    fc.pre(wanted !== name);
    const most = Math.max(2, Math.floor(0.3 * [...wanted].length));
    const isNear = levenshtein([...wanted], [...name]) <= most;
    assert.equal(nearestNames(wanted, [name]).includes(name), isNear);
  }));
});

/** As the textbook has it, for words without `/`. */
function levenshtein(a: readonly string[], b: readonly string[]): number {
  const [first, ...restA] = a;
  const [other, ...restB] = b;
  if (first === undefined) return b.length;
  if (other === undefined) return a.length;
  const key = `${a.join("")}\n${b.join("")}`;
  const known = distances.get(key);
  if (known !== undefined) return known;
  const distance = first === other
    ? levenshtein(restA, restB)
    : 1 + Math.min(levenshtein(restA, restB), levenshtein(a, restB), levenshtein(restA, b));
  distances.set(key, distance);
  return distance;
}

const distances = new Map<string, number>();

Deno.test("did you mean: ten thousand long names are looked through in no time", () => {
  const names = Array.from({ length: 10_000 }, (_, index) => `prompts/of/some/project/number_${index}/task`);
  const registry = new PromptRegistry();
  for (const path of names) registry.register(definePrompt({ path, template: "" }));
  const start = performance.now();
  assert.equal(meantIn(registry, "prompts/of/some/project/nmber_77/task")[0], names[77]);
  const ms = performance.now() - start;
  assert.ok(ms < 2000, `${ms} ms`);
});

Deno.test("prompt path: one form, and it stays", () => {
  assert.equal(pathOf("//a/ b //c.d/"), "a/ b /c.d");
  for (const path of ["..", "a/./b", "/../a"]) {
    assert.throws(
      () => pathOf(path),
      new PromptError(`bad prompt path ${JSON.stringify(path)}: "." and ".." are not allowed`, {
        code: "define",
      }),
    );
  }
  fc.assert(fc.property(fc.string({ unit: fc.constantFrom("/", "a", " ", ".b") }), (path) => {
    const once = pathOf(path);
    assert.equal(pathOf(once), once);
    assert.ok(!once.includes("//") && !once.startsWith("/") && !once.endsWith("/"));
  }));
});
