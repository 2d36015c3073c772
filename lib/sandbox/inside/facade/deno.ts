import type { Effects } from "../../../core/gadget_message.ts";
import { commandClass } from "./command.ts";
import { denoFiles } from "./deno_files.ts";
import type { Environment, SystemFacts } from "./environment.ts";
import { denoError, notThere } from "./error.ts";
import { asking } from "./steps.ts";
import { emptyInput, loggingOutput } from "./streams.ts";

/** What the facades share. */
export interface FacadeParts {
  readonly effects: Effects;
  readonly root: string;
  readonly environment: Environment;
  readonly facts: SystemFacts;
  readonly log: (text: string) => void;
}

/** `Deno` as a gadget sees it. What it has not is a function that says so. */
export function denoFacade(parts: FacadeParts): Readonly<Record<string, unknown>> {
  const { effects, root, environment, log } = parts;
  const ask = asking(effects, denoError);
  const facade: Record<string, unknown> = {
    ...denoFiles(ask, environment),
    ...systemFunctions(parts.facts),
    Command: commandClass(ask, { environment, log }),
    env: environment.deno,
    cwd: () => root,
    args: [],
    pid: 0,
    ppid: 0,
    noColor: true,
    mainModule: "orrery:gadget",
    execPath: () => "orrery", // what of Node the runtime loads asks for it
    build: { ...Deno.build },
    version: { ...Deno.version },
    errors: { ...Deno.errors },
    SeekMode: { ...Deno.SeekMode },
    inspect: Deno.inspect,
    memoryUsage: Deno.memoryUsage,
    refTimer: Deno.refTimer,
    unrefTimer: Deno.unrefTimer,
    stdin: emptyInput(),
    stdout: loggingOutput(log),
    stderr: loggingOutput(log),
    isatty: () => false,
    exit: (code: unknown) => {
      throw new Error(
        `the gadget called Deno.exit(${
          code === undefined ? "" : String(code)
        }); to end a call, return from run`,
      );
    },
  };
  for (const name of Object.keys(Deno)) {
    if (!Object.hasOwn(facade, name) && name !== "internal") addAbsent(facade, name);
  }
  return facade;
}

function systemFunctions(facts: SystemFacts): Readonly<Record<string, unknown>> {
  return {
    hostname: () => facts("hostname"),
    osRelease: () => facts("osRelease"),
    osUptime: () => facts("osUptime"),
    loadavg: () => facts("loadavg"),
    networkInterfaces: () => facts("networkInterfaces"),
    systemMemoryInfo: () => facts("systemMemoryInfo"),
    uid: () => facts("uid"),
    gid: () => facts("gid"),
  };
}

/** A function or a class fails when it is called: code that looks whether it is there goes on. An object fails when it is read. */
function addAbsent(facade: Record<string, unknown>, name: string): void {
  const fail = (): never => {
    throw notThere(`Deno.${name}`, INSTEAD[name] ?? USUAL_INSTEAD);
  };
  // A function that can be called with `new` too.
  if (!OBJECTS.includes(name)) {
    facade[name] = function absent(): never {
      return fail();
    };
  } else Object.defineProperty(facade, name, { get: fail, enumerable: true, configurable: true });
}

const OBJECTS: readonly string[] = ["permissions", "telemetry", "lint"];

const USUAL_INSTEAD = "a gadget has files, fetch, commands and variables, each as far as it was granted";

const INSTEAD: Readonly<Record<string, string>> = {
  open: "use Deno.readFile and Deno.writeFile (with append: true to go on with a file)",
  openSync: "use Deno.readFileSync and Deno.writeFileSync",
  create: "use Deno.writeFile",
  createSync: "use Deno.writeFileSync",
  FsFile: "use Deno.readFile and Deno.writeFile",
  chdir: "paths are relative to the project root; write the folder in front of them",
  connect: "use fetch",
  connectTls: "use fetch",
  createHttpClient: "use fetch as it is",
  permissions: "do what you want to do, and catch Deno.errors.NotCapable",
  symlink: "a gadget makes no links; use Deno.copyFile",
  symlinkSync: "a gadget makes no links; use Deno.copyFileSync",
  link: "a gadget makes no links; use Deno.copyFile",
  linkSync: "a gadget makes no links; use Deno.copyFileSync",
  readLink: "use Deno.realPath",
  readLinkSync: "use Deno.realPathSync",
  spawn: "use new Deno.Command(...).output()",
  dlopen: "a gadget cannot load native code",
};
