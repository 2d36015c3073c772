// The texts of call files. The same ones are started again and again: each is read when it is another one than before, and looked at after a
// short while, since to look costs more than to run a small one.

import { resolve } from "../core/path.ts";
import { withoutByteOrderMark } from "../core/file_text.ts";
import { FileError } from "../core/world.ts";
import { exactFiles } from "../host/exact_files.ts";
import { fileStamp } from "../host/file_stamp.ts";
import { fileInProject } from "./file_in_project.ts";
import { ServiceError } from "./service.ts";

/** The text of a file. */
export interface NamedText {
  /** Relative to the root, links followed. */
  readonly path: string;
  readonly text: string;
}

interface KeptText extends NamedText {
  /** Undefined: it was changed just now, and may be changed again without being told from it. */
  readonly stamp: string | undefined;
  lookedAt: number;
}

const LOOK_EVERY_MS = 25;
const MAX_FILES = 256;
const MAX_LENGTH = 256 * 1024;

/** The texts of the files of a project. */
export class FileTexts {
  readonly #root: string;
  readonly #kept = new Map<string, KeptText>();

  /** @param root real and absolute */
  constructor(root: string) {
    this.#root = root;
  }

  /** @param named relative to the root, with `/` @throws {ServiceError} `outside`, `not-found`; {FileError} */
  text(named: string): NamedText | Promise<NamedText> {
    const kept = this.#kept.get(named);
    if (kept !== undefined && performance.now() - kept.lookedAt < LOOK_EVERY_MS) return kept;
    const path = fileInProject(named, { root: this.#root });
    const stamp = fileStamp(resolve(this.#root, path));
    if (kept === undefined || stamp === undefined || kept.stamp !== stamp || kept.path !== path) {
      return this.#read(named, { path, stamp });
    }
    kept.lookedAt = performance.now();
    return kept;
  }

  async #read(named: string, at: Pick<KeptText, "path" | "stamp">): Promise<NamedText> {
    const lookedAt = performance.now();
    const text = withoutByteOrderMark(await this.#textOf(at.path, named));
    const kept = { ...at, text, lookedAt };
    if (this.#kept.size >= MAX_FILES) this.#kept.clear();
    if (text.length <= MAX_LENGTH) this.#kept.set(named, kept);
    return kept;
  }

  async #textOf(path: string, named: string): Promise<string> {
    try {
      return await exactFiles({ root: this.#root }).readText(path);
    } catch (error) {
      const isThere = !(error instanceof FileError) ||
        (error.code !== "not-found" && error.code !== "is-folder");
      if (isThere) throw error;
      throw new ServiceError(`file: there is no file ${JSON.stringify(named)} in the project`, {
        code: "not-found",
        details: { field: "file" },
      });
    }
  }
}
