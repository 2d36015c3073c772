import { fileURLToPath } from "node:url";
import type { GadgetAddress } from "../core/gadget_message.ts";
import { hostEnv, isCompiled } from "./process.ts";
import { connectFlags } from "./gadget_listener.ts";

/** The argument that makes the compiled binary the process of a gadget. */
export const GADGET_PROCESS_ARGUMENT = "gadget-process";

/** What a gadget's process is started with: nothing that is not said here. */
export interface GadgetCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** How it is started here. @param options.folder of its prepared modules; @param options.memoryBytes of its heap */
export function gadgetCommand(options: {
  readonly at: GadgetAddress;
  readonly folder: string;
  readonly memoryBytes: number;
  /** URL of the module that runs in it; default: lib/sandbox/inside/inside.ts. */
  readonly module?: string;
}): GadgetCommand {
  const heap = `--max-old-space-size=${Math.max(1, Math.floor(options.memoryBytes / 1024 / 1024))}`;
  return isCompiled() ? compiledCommand(heap) : denoCommand(heap, options);
}

function compiledCommand(heap: string): GadgetCommand {
  return {
    command: Deno.execPath(),
    args: [GADGET_PROCESS_ARGUMENT],
    env: { ...systemVariables(), DENO_V8_FLAGS: heap },
  };
}

function denoCommand(
  heap: string,
  { at, folder, module }: { readonly at: GadgetAddress; readonly folder: string; readonly module?: string },
): GadgetCommand {
  if (folder.includes(",")) {
    throw new Error(
      `Cannot start a gadget: the folder of temporary files has a comma in its name, which divides Deno's flags: ` +
        `${folder}; set TMPDIR to another one`,
    );
  }
  return bareDeno({
    flags: [
      `--v8-flags=${heap},--disallow-code-generation-from-strings`,
      ...connectFlags(at),
      `--allow-read=${folder}`,
    ],
    module: module ?? new URL("../sandbox/inside/inside.ts", import.meta.url).href,
  });
}

/** A Deno that runs one of our own modules and may do nothing but what its flags say. */
export function bareDeno(
  { flags = [], module }: { readonly flags?: readonly string[]; readonly module: string },
): GadgetCommand {
  return {
    command: Deno.execPath(),
    args: [
      "run",
      "--quiet",
      "--no-prompt",
      "--no-remote",
      "--cached-only",
      ownConfig(),
      "--no-lock",
      "--no-check",
      "--no-code-cache", // what V8 makes of a module under other flags is none for Orrery, and would take the place of its own
      ...flags,
      module,
    ],
    env: { ...systemVariables(), ...cacheVariables(), DENO_NO_UPDATE_CHECK: "1", NO_COLOR: "1" },
  };
}

/**
 * What is the same in it as in Orrery's own: how modules are compiled. Deno keeps one compiled form of a module, so without it the modules of
 * both would be compiled anew at each start of either. None is looked for beside what is run.
 */
function ownConfig(): string {
  const config = new URL("./gadget_process.json", import.meta.url);
  return config.protocol === "file:" ? `--config=${fileURLToPath(config)}` : "--no-config";
}

/** Where Deno has put the compiled form of our own modules: without it they are compiled again at each start. */
function cacheVariables(): Readonly<Record<string, string>> {
  const own = variables(["DENO_DIR"]);
  return "DENO_DIR" in own ? own : variables(["HOME", "XDG_CACHE_HOME", "LOCALAPPDATA", "USERPROFILE"]);
}

/** Windows opens no socket without. */
function systemVariables(): Readonly<Record<string, string>> {
  return Deno.build.os === "windows" ? variables(["SYSTEMROOT"]) : {};
}

function variables(names: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(names.flatMap((name) => {
    const value = hostEnv(name);
    return value === undefined ? [] : [[name, value]];
  }));
}
