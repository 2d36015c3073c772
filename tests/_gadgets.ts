// Built-in gadgets as a program calls them: the catalogue of a temporary folder, and runs of one call each.
import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import {
  type AnyGadget,
  type CallErrorCode,
  type Catalog,
  createCatalog,
  type Json,
  loadCatalog,
  type LoadCatalogOptions,
  runCalls,
  writeCalls,
} from "../mod.ts";

// What is allowed here is kept in no state folder of whoever runs the tests, nor do their settings count. Test files that run side by
// side share the variables of their process: a file that needs others of its own is in timed/, where each runs alone.
const user = join(Deno.env.get("TMPDIR") ?? "/tmp", `orrery-user-${Deno.pid}`);
for (const name of ["XDG_CONFIG_HOME", "XDG_STATE_HOME"]) Deno.env.set(name, join(user, name));

/** What a call is given besides its input. */
export interface CallOptions {
  readonly signal?: AbortSignal;
  readonly log?: (text: string) => void;
  readonly progress?: (done: number, total?: number) => void;
}

/** How a call ended. */
export interface Outcome {
  readonly result?: Json;
  readonly error?: string;
  readonly code?: CallErrorCode;
}

/** The gadgets of a folder, which goes away with them. */
export interface GadgetFolder extends AsyncDisposable {
  /** Real and absolute. */
  readonly root: string;
  readonly catalog: Catalog;
  /** The result of one call. */
  call(name: string, input: Readonly<Record<string, unknown>>, options?: CallOptions): Promise<Json>;
  /** The message of the error that a call ends with. */
  error(name: string, input: Readonly<Record<string, unknown>>, options?: CallOptions): Promise<string>;
  /** How one call ends. */
  outcome(name: string, input: Readonly<Record<string, unknown>>, options?: CallOptions): Promise<Outcome>;
  /** The result of a call, as a model reads it. */
  shown(name: string, input: Readonly<Record<string, unknown>>): Promise<string | undefined>;
  gadget(name: string): Promise<AnyGadget>;
  text(path: string): Promise<string>;
}

/** Makes one with these files, by their path in it. Default: its gadgets may write in it. */
export async function gadgetFolder(
  { files = {}, ...options }:
    & { readonly files?: Readonly<Record<string, string | Uint8Array>> }
    & Omit<LoadCatalogOptions, "root" | "files"> = {},
): Promise<GadgetFolder> {
  const root = await Deno.realPath(await Deno.makeTempDir({ prefix: "orrery-gadgets-" }));
  await writeFiles(root, files);
  const catalog = await loadCatalog({ root, allow: { write: ["."] }, ...options });
  const outcome: GadgetFolder["outcome"] = (name, input, options) =>
    outcomeOf(catalog, { name, input, options });
  const folder: GadgetFolder = {
    root,
    catalog,
    outcome,
    async call(name, input, options) {
      const { result, error } = await outcome(name, input, options);
      assert.equal(error, undefined);
      return result ?? null;
    },
    async error(name, input, options) {
      const { result, error } = await outcome(name, input, options);
      return error ?? assert.fail(`expected an error, got ${JSON.stringify(result)}`);
    },
    async shown(name, input) {
      const result = await folder.call(name, input);
      const call = { gadgetName: name, invocationId: "x", parameters: {} };
      return (await folder.gadget(name)).format?.(result, call);
    },
    gadget: async (name) => await (catalog.maybeFind(name) ?? assert.fail(`no gadget ${name}`)).load(),
    text: (path) => Deno.readTextFile(join(root, path)),
    async [Symbol.asyncDispose]() {
      await catalog.close?.();
      await Deno.remove(root, { recursive: true });
    },
  };
  return folder;
}

interface OneCall {
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly options?: CallOptions;
}

async function outcomeOf(
  catalog: Catalog,
  { name, input, options: { signal, log = () => {}, progress = () => {} } = {} }: OneCall,
): Promise<Outcome> {
  const text = writeCalls([{ gadgetName: name, parameters: input }], { asJson: true });
  let outcome: Outcome = { error: "the call was never made" };
  for await (const event of runCalls([text], { catalog, signal })) {
    if (event.type === "call-log") log(event.text);
    if (event.type === "call-progress") progress(event.done, event.total);
    if (event.type === "call-result" || event.type === "call-error") outcome = event;
  }
  return outcome;
}

/** What a gadget is given for the input that a call writes so, or the error that it ends with. */
export async function inputOf(gadget: AnyGadget, calls: string): Promise<Json | undefined> {
  const { name, input } = gadget;
  const echo = createCatalog([{ name, input, run: (given: unknown) => given } as AnyGadget]);
  for await (const event of runCalls([`!!!GADGET_START:${name}\n${calls}`], { catalog: echo })) {
    if (event.type === "call-result") return event.result;
    if (event.type === "call-error") return event.error;
  }
  return undefined;
}

/** Writes files below a folder. */
export async function writeFiles(
  root: string,
  files: Readonly<Record<string, string | Uint8Array>>,
): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    const file = join(root, path);
    await Deno.mkdir(dirname(file), { recursive: true });
    await Deno.writeFile(file, typeof content === "string" ? new TextEncoder().encode(content) : content);
  }
}
