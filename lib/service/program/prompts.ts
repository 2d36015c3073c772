import {
  discoverPrompts as discover,
  type Discovery,
  type PromptFolder,
} from "../../catalog/prompts/discover.ts";
import { hostFiles } from "../../host/files/files.ts";
import { realPath } from "../../host/paths.ts";
import type { PromptRegistry } from "../../prompt/registry.ts";
import { promptModuleLoader } from "../../project/prompt_module_loader.ts";
import { rootFolder } from "./root_folder.ts";

/** Where to look for prompts, and what to do with problems. */
export interface DiscoverPromptsOptions {
  /** The folder with `orrery.yaml`, relative to the working folder. Default: that. */
  readonly root?: string | URL;
  /** In place of the folders of `orrery.yaml`, relative to the root; none scans nothing. */
  readonly folders?: readonly PromptFolder[];
  /** Default true: all problems are thrown together. */
  readonly strict?: boolean;
  /** Where the prompts go. Default: a new registry. */
  readonly registry?: PromptRegistry;
  /**
   * Modules by their paths from the root, as `prompts.gen.ts` exports them (`orrery list prompts --write-types`). Each is loaded by its
   * function instead of from the disk, and counts as if its file were there. So a compiled program holds its prompts: `deno bundle
   * --code-splitting --outdir dist main.ts`, then `deno compile dist/main.js`.
   */
  readonly modules?: Readonly<Record<string, () => Promise<unknown>>>;
}

/**
 * Finds the prompts of a project, in TypeScript modules, `*.prompt.md` and `*.prompt` files, and registers each under the path that its
 * place says (prompts.md 12). The modules are loaded: they are code, and run as such. A compiled program of yours loads those of `modules` only.
 *
 * ```ts
 * import { discoverPrompts } from "orrery";
 *
 * const root = await Deno.makeTempDir();
 * await Deno.mkdir(`${root}/prompts`);
 * await Deno.writeTextFile(`${root}/prompts/greet.prompt.md`, "---\nname: greet/warmly\n---\nHello {name}!");
 * await Deno.writeTextFile(`${root}/prompts/broken.prompt.md`, "Hello {name");
 * const { registry, problems } = await discoverPrompts({ root, strict: false });
 * console.log(registry.get("greet/warmly")({ name: "Ada" })); // => Hello Ada!
 * console.log(problems[0]?.file, problems[0]?.line); // => prompts/broken.prompt.md 1
 * await Deno.remove(root, { recursive: true });
 * ```
 *
 * @throws {PromptError} `discover`, with a line for each problem, unless `strict` is false
 */
export async function discoverPrompts(options: DiscoverPromptsOptions = {}): Promise<Discovery> {
  const { root: given = ".", modules, ...how } = options;
  const root = realPath(rootFolder(given));
  const loader = promptModuleLoader(root, { trustsCode: true, modules });
  const { registry, problems } = await discover({ root, files: hostFiles({ root }), ...how, ...loader });
  return { registry, problems };
}
