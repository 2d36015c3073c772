import { join } from "../core/path.ts";
import { PermissionRefused, type PermissionRequest, type Policy } from "../core/world.ts";
import type { Files, Shell } from "../core/world.ts";
import { shellWord } from "./refusal.ts";

/** Variables that make an allowed command run other code: where programs and libraries are found. */
const LOADER_VARIABLES =
  /^(PATH|LD_.*|DYLD_.*|BASH_ENV|ENV|BASH_FUNC_.*|SHELLOPTS|NODE_(OPTIONS|PATH)|PYTHON.*|PERL5.*|RUBY(OPT|LIB)|_?JAVA_.*|GCONV_PATH|GIT_.*)$/i;

/** Ours that any command may see; every other one is asked about. */
const ORDINARY_VARIABLES =
  /^(PATH|HOME|LANG|LC_.*|TERM|TMPDIR|TZ|USER|SHELL|PATHEXT|SYSTEMROOT|COMSPEC|TEMP|TMP|USERPROFILE|USERNAME)$/;

/** Commands that ask the policy: a bare name by that name, one with a slash by its real path; the folder must be readable. */
export function guardShell(raw: Shell, options: { readonly files: Files; readonly policy: Policy }): Shell {
  const { files, policy } = options;
  return {
    async run(command, settings) {
      const cwd = await files.resolve(settings.cwd ?? ".");
      const isPath = command.includes("/");
      // As in a shell that stands in `cwd`. What runs is the path itself: a program may go by the name it was called.
      const program = isPath ? (command.startsWith("/") ? command : join(cwd, command)) : command;
      refuseDenied(program, policy);
      const detail = [command, ...settings.args ?? []].map(shellWord).join(" ");
      await policy.permit({ kind: "run", value: isPath ? await files.resolve(program) : program, detail });
      // The project root is where a command runs of which nothing else is said: whoever may run it may run it there.
      const folder = { kind: "read", value: cwd } as const;
      if (settings.cwd === undefined) refuseForbidden(folder, policy);
      else await policy.permit(folder);
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

/** A `--deny-run` also counts for what a link is called: `/bin/sh` is `sh`, wherever it leads. */
function refuseDenied(program: string, policy: Policy): void {
  refuseForbidden({ kind: "run", value: program }, policy);
}

function refuseForbidden(request: PermissionRequest, policy: Policy): void {
  try {
    policy.check(request);
  } catch (error) {
    const isUndecided = error instanceof PermissionRefused && !error.isFinal; // the real path decides
    if (!isUndecided) throw error;
  }
}

function checkVariables(names: readonly string[], policy: Policy): void {
  const name = names.find((name) => LOADER_VARIABLES.test(name));
  if (name === undefined) return;
  const request = { kind: "run", value: "*" } as const; // no command has this name: only --allow-run alone allows it
  try {
    policy.check(request);
  } catch (error) {
    if (!(error instanceof PermissionRefused)) throw error;
    const why = "it decides which code a command runs";
    const flag = error.flag.startsWith("--allow-gadget ") ? error.flag : "--allow-run";
    throw new PermissionRefused(
      `Setting the variable "${name}" for a command is not allowed: ${why}; add ${flag}`,
      { request, flag },
    );
  }
}
