import { dirname, join } from "node:path";
import { discoverPrompts, type DiscoverPromptsOptions, type Discovery } from "../mod.ts";

/** The files of a project, and what its modules export in place of their text. */
export interface PromptFiles {
  readonly files: Readonly<Record<string, string | Uint8Array>>;
  readonly modules?: DiscoverPromptsOptions["modules"];
}

/** What `discoverPrompts` finds in a folder that holds these files, as long as it looks. */
export async function discoverIn(
  { files, modules = {} }: PromptFiles,
  options: Omit<DiscoverPromptsOptions, "root" | "modules"> = {},
): Promise<Discovery> {
  const root = await Deno.makeTempDir({ prefix: "orrery-prompts-" });
  try {
    for (const [path, text] of Object.entries(files)) {
      const name = join(root, path);
      await Deno.mkdir(dirname(name), { recursive: true });
      if (typeof text === "string") await Deno.writeTextFile(name, text);
      else await Deno.writeFile(name, text);
    }
    return await discoverPrompts({ root, modules, ...options });
  } finally {
    await Deno.remove(root, { recursive: true });
  }
}
