import { hostEnv } from "./process.ts";
import { maybeFindProgram } from "./find_program.ts";

/** A shell, and how it is given a script (documents.md 9.1). */
export interface ScriptShell {
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
