// A world over a real temporary folder: real files, commands and policy; the network is what a test says.
import assert from "node:assert/strict";
import { join } from "node:path";
import {
  type AnyGadget,
  type Clock,
  type GadgetContext,
  type Http,
  type Json,
  type Policy,
  systemClock,
  type World,
} from "../mod.ts";
import { toJson } from "../lib/core/json.ts";
import { exactFiles } from "../lib/host/files/exact_files.ts";
import { hostShell } from "../lib/host/commands/shell.ts";
import { guardWorld } from "../lib/policy/guard.ts";
import { createPolicy } from "../lib/policy/policy.ts";
import { parsePolicyFlags } from "../lib/policy/policy_flags.ts";
import { issuesText, validateInput } from "../lib/schema/validate.ts";

/** How the world is. */
export interface TestWorldOptions {
  /** The files at the start, by their path in the root. */
  readonly files?: Readonly<Record<string, string | Uint8Array>>;
  /** Flags such as `allow-run=git`. Default: write the root. */
  readonly flags?: readonly string[];
  readonly http?: (check: Policy["check"]) => Http;
  readonly clock?: Clock;
}

/** A world that goes away with its folder. */
export interface TestWorld extends World, AsyncDisposable {}

/** Makes a world; `await using` removes its folder. */
export async function testWorld(options: TestWorldOptions = {}): Promise<TestWorld> {
  const root = await Deno.realPath(await Deno.makeTempDir({ prefix: "orrery-test-" }));
  await writeFiles(root, options.files ?? {});
  const flags = (options.flags ?? [`allow-write=${root}`]).map((flag) => {
    const [name = "", ...value] = flag.split("=");
    return { name, value: value.length === 0 ? true as const : value.join("=") };
  });
  const policy = createPolicy(parsePolicyFlags(flags), { root, cwd: root });
  const guarded = guardWorld({
    root,
    files: exactFiles({ root }),
    shell: hostShell(),
    http: ({ check }) => options.http?.(check) ?? { fetch: noNetwork, open: noNetwork },
  }, policy);
  return {
    ...guarded,
    user: { canAnswer: false, ask: () => Promise.reject(new Error("nobody can be asked")) },
    clock: options.clock ?? systemClock,
    wallTime: () => 0,
    [Symbol.asyncDispose]: () => Deno.remove(root, { recursive: true }),
  };
}

function noNetwork(): Promise<never> {
  return Promise.reject(new Error("this test has no network"));
}

/** Writes files below a folder. */
export async function writeFiles(
  root: string,
  files: Readonly<Record<string, string | Uint8Array>>,
): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    const file = join(root, path);
    await Deno.mkdir(join(file, ".."), { recursive: true });
    await Deno.writeFile(file, typeof content === "string" ? new TextEncoder().encode(content) : content);
  }
}

/** What a call is given besides its input. */
export interface CallOptions {
  readonly signal?: AbortSignal;
  readonly log?: (text: string) => void;
}

/** Calls a gadget as a run does: its input is checked by its schema, its result must be JSON. */
export async function callGadget(
  gadget: AnyGadget,
  input: Readonly<Record<string, unknown>>,
  { signal = new AbortController().signal, log = () => {} }: CallOptions = {},
): Promise<Json> {
  const checked = await validateInput(gadget.input, input);
  if (!checked.ok) throw new Error(issuesText(checked.issues));
  const call = { gadgetName: gadget.name, invocationId: "call_1", parameters: input };
  const context: GadgetContext = {
    signal,
    invocationId: "call_1",
    dependencies: {},
    call,
    log,
    progress: () => {},
  };
  const run: unknown = gadget.run;
  assert.ok(typeof run === "function");
  return toJson(await Reflect.apply(run, gadget, [checked.value, context]));
}

/** The message of the error that a call ends with. */
export async function callError(
  gadget: AnyGadget,
  input: Readonly<Record<string, unknown>>,
  options?: CallOptions,
): Promise<string> {
  const error = await callGadget(gadget, input, options).then(
    (value) => assert.fail(`expected an error, got ${JSON.stringify(value)}`),
    (error: unknown) => error,
  );
  assert.ok(error instanceof Error);
  return error.message;
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
