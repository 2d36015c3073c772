// A world over a real temporary folder: real files, commands and policy; the network is what a test says.
import assert from "node:assert/strict";
import { type AnyGadget, systemClock, type World } from "../mod.ts";
import { exactFiles } from "../lib/host/files/changes.ts";
import { hostShell } from "../lib/host/commands/shell.ts";
import { guardWorld } from "../lib/policy/guard.ts";
import { createPolicy } from "../lib/policy/policy.ts";
import { parsePolicyFlags } from "../lib/policy/policy_settings.ts";
import { validateInput } from "../lib/schema/validate.ts";

/** A world that goes away with its folder. */
export interface TestWorld extends World, AsyncDisposable {}

/** Makes a world; `await using` removes its folder. @param options.flags such as `allow-run=git` */
export async function testWorld({ flags }: { readonly flags: readonly string[] }): Promise<TestWorld> {
  const root = await Deno.realPath(await Deno.makeTempDir({ prefix: "orrery-test-" }));
  const allowed = flags.map((flag) => {
    const [name = "", ...value] = flag.split("=");
    return { name, value: value.length === 0 ? true as const : value.join("=") };
  });
  const policy = createPolicy(parsePolicyFlags(allowed), { root, cwd: root });
  const guarded = guardWorld({
    root,
    files: exactFiles({ root }),
    shell: hostShell(),
    http: () => ({ fetch: noNetwork, open: noNetwork }),
  }, policy);
  return {
    ...guarded,
    user: { canAnswer: false, ask: () => Promise.reject(new Error("nobody can be asked")) },
    clock: systemClock,
    wallTime: () => 0,
    [Symbol.asyncDispose]: () => Deno.remove(root, { recursive: true }),
  };
}

function noNetwork(): Promise<never> {
  return Promise.reject(new Error("this test has no network"));
}

/** Checks what every built-in gadget owes a model: words for everything, and examples that fit its schema. */
export async function checkDescription(gadget: AnyGadget, name: string): Promise<void> {
  assert.equal(gadget.name, name);
  assert.ok((gadget.description ?? "").length > 80, `${name} has no good description`);
  const input: unknown = gadget.input;
  assert.ok(
    typeof input === "object" && input !== null && "properties" in input && "additionalProperties" in input,
  );
  assert.equal(input.additionalProperties, false);
  for (const [property, schema] of Object.entries(input.properties ?? {})) {
    assert.ok(
      typeof schema.description === "string" && schema.description.length > 10,
      `${name}: ${property} has no description`,
    );
  }
  assert.ok((gadget.examples ?? []).length > 0);
  for (const example of gadget.examples ?? []) {
    assert.deepEqual(await validateInput(gadget.input, example.input), { ok: true, value: example.input });
  }
}
