import { join } from "node:path";
import {
  type Files,
  type Http,
  PermissionRefused,
  type PermissionRequest,
  type Policy,
  type Shell,
  type World,
} from "../core/core.ts";
import { guardFiles, permitReal } from "./guard_files.ts";
import { maybeRefusal, shellWord } from "./refusal.ts";

/** The parts of a world as they are, asking nobody. */
export interface RawWorld {
  /** The project root: real and absolute. */
  readonly root: string;
  readonly files: Files;
  readonly shell: Shell;
  /** Built with the check, because only it knows every hop and the address it is about to dial. */
  readonly http: (options: { readonly check: Policy["permit"] }) => Http;
}

/** The parts of a world that ask the policy before every effect: what built-in gadgets get. */
export type GuardedWorld = Pick<World, "root" | "files" | "shell" | "http" | "policy">;

/** Puts a policy around the parts of a world; every effect that is not allowed throws a `PermissionRefused`. */
export function guardWorld(raw: RawWorld, policy: Policy): GuardedWorld {
  return {
    root: raw.root,
    policy,
    files: guardFiles(raw.files, { policy, root: raw.root }),
    shell: guardShell(raw.shell, { files: raw.files, policy, root: raw.root }),
    http: raw.http({ check: (request) => policy.permit(request) }),
  };
}

/** Variables that make an allowed command run other code: where programs, libraries and settings are found, and what is started for help. */
const LOADER_VARIABLES = new RegExp(
  `^(${
    [
      "PATH|PATHEXT|COMSPEC|HOME|USERPROFILE|(LOCAL)?APPDATA|XDG_.*|ZDOTDIR|KUBECONFIG|GCONV_PATH|TERMINFO.*",
      "LD_.*|DYLD_.*|BASH_ENV|ENV|BASH_FUNC_.*|SHELLOPTS|BASHOPTS|PS[0-4]|LESS.*|MAKE(FLAGS|FILES)|MFLAGS|CC|CXX|AR",
      ".*(EDITOR|VISUAL|PAGER|BROWSER|SHELL|ASKPASS|COMMAND|WRAPPER|RUNNER|LINKER|PRELOAD)",
      "(GIT|SSH|GPG|GNUPG|NPM|YARN|PNPM|NODE|DENO|BUN|PIP|UV|CARGO|RUST|RUSTUP|GEM|BUNDLE|MAVEN|GRADLE|DOCKER|LUA)_.*",
      "GNUPGHOME|RUSTC.*|RUSTFLAGS|PYTHON.*|PERL.*|RUBY.*|PHP.*|GO(FLAGS|ROOT|PATH|ENV|TOOLCHAIN|PROXY)|(_|JDK_)?JAVA_.*|CLASSPATH",
    ].join("|")
  })$`,
  "i",
);

/** Ours that any command may see; every other one is asked about. */
const ORDINARY_VARIABLES =
  /^(PATH|HOME|LANG|LC_.*|TERM|TMPDIR|TZ|USER|SHELL|PATHEXT|SYSTEMROOT|COMSPEC|TEMP|TMP|USERPROFILE|USERNAME)$/;

/** Commands that ask the policy: a bare name by that name, one with a slash by its real path; the folder must be readable. */
function guardShell(
  raw: Shell,
  { files, policy, root }: { readonly files: Files; readonly policy: Policy; readonly root: string },
): Shell {
  return {
    async run(command, settings) {
      const cwd = await files.resolve(settings.cwd ?? ".");
      const isPath = command.includes("/");
      // As in a shell that stands in `cwd`. What runs is the path itself: a program may go by the name it was called.
      const program = isPath ? (command.startsWith("/") ? command : join(cwd, command)) : command;
      // A `--deny-run` also counts for what a link is called: `/bin/sh` is `sh`, wherever it leads.
      refuseForbidden({ kind: "run", value: program }, policy);
      const detail = [command, ...settings.args ?? []].map(shellWord).join(" ");
      if (isPath) {
        await permitReal(policy, {
          kind: "run",
          path: command,
          real: await files.resolve(program),
          root: cwd,
          detail,
        });
      } else await policy.permit({ kind: "run", value: program, detail });
      // The project root is where a command runs of which nothing else is said: whoever may run it may run it there.
      const folder = { kind: "read", value: cwd } as const;
      if (settings.cwd === undefined) refuseForbidden(folder, policy);
      else await permitReal(policy, { kind: "read", path: settings.cwd, real: cwd, root });
      checkVariables(Object.keys(settings.env ?? {}), policy);
      await permitInherited(settings.inherit ?? [], policy);
      return await raw.run(program, { ...settings, cwd });
    },
  };
}

async function permitInherited(names: readonly string[], policy: Policy): Promise<void> {
  for (const name of names.filter((name) => !ORDINARY_VARIABLES.test(name))) {
    if (name.endsWith("*")) {
      throw new Error(`Cannot hand on the variables ${JSON.stringify(name)} to a command: name each of them`);
    }
    await policy.permit({ kind: "env", value: name });
  }
}

function refuseForbidden(request: PermissionRequest, policy: Policy): void {
  const refused = maybeRefusal(policy, request);
  if (refused?.isFinal) throw refused; // else the real path decides
}

function checkVariables(names: readonly string[], policy: Policy): void {
  const name = names.find((name) => LOADER_VARIABLES.test(name));
  if (name === undefined) return;
  const request = { kind: "run", value: "*" } as const; // no command has this name: only --allow-run alone allows it
  const refused = maybeRefusal(policy, request);
  if (refused === undefined) return;
  const why = "it decides which code a command runs";
  const flag = refused.flag.startsWith("--allow-gadget ") ? refused.flag : "--allow-run";
  throw new PermissionRefused(
    `Setting the variable "${name}" for a command is not allowed: ${why}; add ${flag}`,
    { request, flag },
  );
}
