import type { AnyGadget, World } from "../lib/core/core.ts";

/** Makes a built-in gadget over a guarded world. */
export type BuiltInGadget = (world: World) => AnyGadget;

interface GadgetModule {
  readonly default: BuiltInGadget;
}

const made = async (module: Promise<GadgetModule>): Promise<BuiltInGadget> => (await module).default;

/**
 * The gadgets that Orrery brings along, by name; a module is loaded when its gadget is asked for (gadgets.md 2).
 *
 * Each import is a literal, so that a bundle and with it the binary holds them all; `as string` keeps `deno run` from reading them
 * before they are asked for.
 */
export const builtInGadgets: Readonly<Record<string, () => Promise<BuiltInGadget>>> = {
  ReadFile: () => made(import("./read_file.ts" as string)),
  WriteFile: () => made(import("./write_file.ts" as string)),
  EditFile: () => made(import("./edit_file.ts" as string)),
  ListFolder: () => made(import("./list_folder.ts" as string)),
  SearchText: () => made(import("./search/search_text.ts" as string)),
  FetchUrl: () => made(import("./fetch_url.ts" as string)),
  RunCommand: () => made(import("./run_command.ts" as string)),
  Calculate: () => made(import("./calculate.ts" as string)),
  Now: () => made(import("./now.ts" as string)),
  Wait: () => made(import("./wait.ts" as string)),
  Json: () => made(import("./json.ts" as string)),
  Template: () => made(import("./template.ts" as string)),
  AskUser: () => made(import("./ask_user.ts" as string)),
  SqlQuery: () => made(import("./sql/sql_query.ts" as string)),
  Finish: () => made(import("./finish.ts" as string)),
  RunPrompt: () => made(import("./run_prompt.ts" as string)),
  RunFile: () => made(import("./run_file.ts" as string)),
};
