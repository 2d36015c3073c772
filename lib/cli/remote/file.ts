// What FILE is with a server: a path of its project, and of nothing that lies here.
import { resolve } from "node:path";
import { FileError, ProblemsError } from "../../core/core.ts";
import { lookAt, workingFolder } from "../../host/paths.ts";
import type { Terminal } from "../../host/terminal/terminal.ts";
import { errorFrame } from "../../render/error_frame.ts";
import { EXIT, UsageError } from "../../service/exit_code.ts";
import type { LookedFile } from "../../service/kinds/kind.ts";
import { recordedPlace } from "../../service/start/ready_run.ts";
import { type ServerClient, ServerError } from "./client.ts";

/** A path of the project of a server. @throws {UsageError} for one that can be none */
export function pathThere(word: string): string {
  const path = word.replace(/^(?:\.\/)+/, "");
  if (!/^(?:[A-Za-z]:|[\\/])|(?:^|[\\/])\.\.(?:[\\/]|$)/.test(path)) return path;
  throw new UsageError(
    `found ${
      JSON.stringify(word)
    }: with --server a path is one in the project of the server, from its root, without ..`,
  );
}

/** A file that the server does not have may be one that lies here. */
export function orNotThere(error: unknown, word: string, { url }: ServerClient): unknown {
  if (!(error instanceof ServerError) || error.code !== "not-found") return error;
  const isHere = lookAt(resolve(workingFolder(), word)) === "file";
  const hint = isHere
    ? "; it is here, and with --server FILE is looked for in the project of the server: put it there, or leave --server out"
    : "; with --server FILE is looked for there, from the root of that project";
  return new FileError(`The project of ${url} has no file ${JSON.stringify(word)}${hint}`, {
    path: word,
    code: "not-found",
  });
}

/** A file of the project of a server, for whoever looks at its text. @throws {FileError} where there is none */
export async function fileThere(client: ServerClient, word: string): Promise<LookedFile> {
  const file = pathThere(word);
  const text = await client.source(file).catch((error) => {
    throw orNotThere(error, word, client);
  });
  const cwd = workingFolder();
  const { project } = await recordedPlace(cwd, { cwd }); // its settings are there
  return { file, path: resolve(cwd, file), text, project };
}

/** Tells what is wrong with a file there, a line each since its text is not here; gives the exit code. @throws any other error */
export async function toldProblems(error: unknown, { stderr }: Pick<Terminal, "stderr">): Promise<number> {
  if (!(error instanceof ProblemsError)) throw error;
  await stderr.write(error.problems.map((problem) => errorFrame(problem)).join(""));
  return EXIT.usage;
}
