import { join, resolve } from "node:path";
import { denoGrants, hostEnv } from "../process.ts";

/** Where names were found, by PATH and name: a look at each folder of PATH takes longer than a start. */
const found = new Map<string, string>();

/**
 * The file that a command is, as far as that can be seen: a path from `cwd`, a bare name from the folders of `path`. Undefined when
 * there is none that can be executed, or when Deno itself may not look. Not for Windows.
 */
export function maybeFindProgram(
  command: string,
  { path, cwd }: { readonly path: string; readonly cwd?: string },
): string | undefined {
  if (command.includes("/")) {
    const file = resolve(cwd ?? Deno.cwd(), command);
    return isProgram(file) ? file : undefined;
  }
  const key = `${path}\0${command}`;
  const known = found.get(key);
  if (known !== undefined && isProgram(known)) return known;
  const file = path.split(":").filter((folder) => folder.startsWith("/")).map((folder) =>
    join(folder, command)
  )
    .find(isProgram);
  if (file === undefined) found.delete(key);
  else found.set(key, file);
  return file;
}

/** Whether the program of a child is there, as far as that can be seen: one that is missing has to be named itself. Never on Windows. */
export function seesProgram(
  command: string,
  { env, cwd }: { readonly env: Readonly<Record<string, string>>; readonly cwd?: string },
): boolean {
  if (Deno.build.os === "windows") return false;
  return maybeFindProgram(command, { path: env.PATH ?? "", cwd }) !== undefined;
}

function isProgram(path: string): boolean {
  if (!denoGrants({ name: "read", path })) return false;
  try {
    const { isFile, mode } = Deno.statSync(path);
    return isFile && ((mode ?? 0) & 0o111) !== 0;
  } catch {
    return false;
  }
}

/** A shell, and how it is given a script (documents.md 9.1). */
interface ScriptShell {
  readonly command: string;
  /** The arguments that make it run a script. */
  args(script: string): readonly string[];
  /** The names of our variables that a script gets; `LC_*` is all that begin with `LC_`. */
  readonly inherit: readonly string[];
}

const UNIX_VARIABLES: readonly string[] = ["PATH", "HOME", "LANG", "LC_*", "TMPDIR", "TZ", "USER", "SHELL"];
const WINDOWS_VARIABLES: readonly string[] = [
  "PATH",
  "PATHEXT",
  "SYSTEMROOT",
  "COMSPEC",
  "TEMP",
  "TMP",
  "USERPROFILE",
  "USERNAME",
];

/** The shell for scripts of documents: bash when there is one on PATH, else `/bin/sh`; `cmd` on Windows. Nothing is started. */
export function defaultShell(): ScriptShell {
  if (Deno.build.os === "windows") {
    return {
      command: "cmd",
      args: (script) => ["/d", "/s", "/c", `"${script}"`],
      inherit: WINDOWS_VARIABLES,
    };
  }
  const bash = maybeFindProgram("bash", { path: hostEnv("PATH") ?? "" });
  return {
    command: bash === undefined ? "/bin/sh" : "bash",
    args: (script) => ["-c", script],
    inherit: UNIX_VARIABLES,
  };
}
