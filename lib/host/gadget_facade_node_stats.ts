import type { Look } from "./gadget_facade_file_steps.ts";

/** What kind of thing is at a path, as Node asks it. */
class Kind {
  readonly #kind: string;

  constructor(kind: string) {
    this.#kind = kind;
  }

  isFile(): boolean {
    return this.#kind === "file";
  }

  isDirectory(): boolean {
    return this.#kind === "folder";
  }

  isSymbolicLink(): boolean {
    return this.#kind === "link";
  }

  isBlockDevice(): boolean {
    return false;
  }

  isCharacterDevice(): boolean {
    return false;
  }

  isFIFO(): boolean {
    return false;
  }

  isSocket(): boolean {
    return false;
  }
}

/** What Node tells of a file, as far as a gadget is told. */
export class Stats extends Kind {
  readonly size: number;
  readonly mode: number;
  readonly mtimeMs: number;
  readonly birthtimeMs: number;
  readonly mtime: Date;
  readonly birthtime: Date;

  constructor({ kind, size, mode, modifiedMs = 0, createdMs = modifiedMs }: Look) {
    super(kind);
    this.size = size;
    this.mode = mode ?? (kind === "folder" ? 0o040755 : 0o100644);
    this.mtimeMs = modifiedMs;
    this.birthtimeMs = createdMs;
    this.mtime = new Date(modifiedMs);
    this.birthtime = new Date(createdMs);
  }
}

/** An entry of a folder. */
export class Dirent extends Kind {
  readonly name: string;
  readonly parentPath: string;

  constructor(folder: string, path: string, kind: string) {
    super(kind);
    const at = path.search(/[^\\/]+$/);
    this.name = path.slice(at);
    this.parentPath = at > 0 ? `${folder}/${path.slice(0, at - 1)}` : folder;
  }
}
