import type { AnyGadget, Schema } from "../core/gadget.ts";
import { isRecord } from "../core/json.ts";
import { dirname, resolve } from "node:path";
import { checkGadget } from "../schema/check_gadget.ts";
import { isStandardSchema } from "../core/gadget.ts";
import { messageOf } from "../core/source_error.ts";
import { loadExports, type LoadModule } from "./module_loader.ts";
import { moduleProblem } from "./module_problem.ts";
import type { ProjectPlace } from "./project_file.ts";
import { isInside } from "./project_path.ts";

/** Where references are read, and how modules are loaded. */
export interface ReferenceOptions extends ProjectPlace {
  /** The file that has the reference; absolute. */
  readonly from: string;
  readonly loadModule: LoadModule;
}

/** The gadget of `./file.ts#export`. @throws {Error} that says why there is none */
export async function referencedGadget(reference: string, options: ReferenceOptions): Promise<AnyGadget> {
  const value = await referencedExport(reference, options);
  if (!isRecord(value)) throw new Error(`${reference} is not a gadget`);
  try {
    return checkGadget(value, reference);
  } catch (thrown) {
    throw new Error(`${reference} is not a gadget: ${messageOf(thrown).replaceAll(`${reference}: `, "")}`);
  }
}

/** The schema of `./file.ts#Export`. @throws {Error} that says why there is none */
export async function referencedSchema(reference: string, options: ReferenceOptions): Promise<Schema> {
  const value = await referencedExport(reference, options);
  if (isStandardSchema(value) || (isRecord(value) && !("kind" in value))) return value;
  throw new Error(`${reference} is not a schema`);
}

async function referencedExport(reference: string, options: ReferenceOptions): Promise<unknown> {
  const { from, root, files, loadModule } = options;
  const [file = "", name = ""] = reference.split("#");
  const path = resolve(dirname(from), file);
  if (!isInside(path, root) || !isInside(await files.resolve(path), root)) {
    throw new Error(`${reference} is outside the project`);
  }
  try {
    const exported = await loadExports(path, loadModule);
    return Object.hasOwn(exported, name) ? exported[name] : undefined;
  } catch (thrown) {
    const { message } = moduleProblem(thrown, { path, root });
    throw new Error(`cannot load ${file}: ${message}`);
  }
}
