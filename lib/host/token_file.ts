// The token of a server, for programs of the same user: a file beside the journal, whose name no run may read or write.

import { messageOf } from "../core/source_error.ts";
import { dirname, join } from "node:path";
import { removeFile } from "./journal_files.ts";
import { atExit } from "./process.ts";

/** Where it is: below the project root. */
export const TOKEN_FILE = ".orrery/orrery.db-token";

/** Keeps the token until it is disposed of, or the process ends. @param root absolute @throws {Error} that says why it cannot */
export function keepToken(root: string, token: string): Disposable {
  const path = join(root, TOKEN_FILE);
  try {
    Deno.mkdirSync(dirname(path), { recursive: true });
    if (Deno.lstatSync(dirname(path)).isSymlink) throw new Error("its folder is a link");
    removeFile(path); // of a server that was killed, or a link: what is made is new
    Deno.writeTextFileSync(path, `${token}\n`, { createNew: true, mode: 0o600 });
  } catch (error) {
    throw new Error(`Cannot keep the token in ${path}: ${messageOf(error)}`, { cause: error });
  }
  const remove = (): void => {
    if (isOurs(path, token)) removeFile(path);
  };
  const exit = atExit(remove);
  return {
    [Symbol.dispose]() {
      exit[Symbol.dispose]();
      remove();
    },
  };
}

/** Another server of the same project may have put its own there. */
function isOurs(path: string, token: string): boolean {
  try {
    return Deno.readTextFileSync(path) === `${token}\n`;
  } catch {
    return false;
  }
}
