import { hostEnv } from "./deno_grants.ts";
import { isCompiled } from "./process.ts";

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
  readonly port: number;
  readonly folder: string;
  readonly memoryBytes: number;
  /** URL of the module that runs in it; default: `gadget_process.ts` beside this one. */
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
  { port, folder, module }: { readonly port: number; readonly folder: string; readonly module?: string },
): GadgetCommand {
  return {
    command: Deno.execPath(),
    args: [
      "run",
      "--quiet",
      "--no-prompt",
      "--no-remote",
      "--cached-only",
      "--no-config",
      "--no-lock",
      "--no-check",
      `--v8-flags=${heap},--disallow-code-generation-from-strings`,
      `--allow-net=127.0.0.1:${port}`,
      `--allow-read=${folder.replaceAll(",", ",,")}`, // a single comma divides the list
      module ?? new URL("./gadget_process.ts", import.meta.url).href,
    ],
    env: { ...systemVariables(), ...cacheVariables(), DENO_NO_UPDATE_CHECK: "1", NO_COLOR: "1" },
  };
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
