import { sep } from "node:path";
import {
  FileError,
  isInside,
  messageOf,
  pathFromFolder,
  type Problem,
  projectPath,
} from "../../core/core.ts";
import type { ProjectPlace } from "../project_file.ts";
import type { SourceFolder } from "./sources.ts";

/** What a file holds, told by its name. */
export type SourceKind = "module" | "text" | "dotprompt";

/** A file that may define something. */
export interface SourceFile {
  readonly kind: SourceKind;
  /** Absolute. */
  readonly path: string;
  /** As problems name it. */
  readonly file: string;
  /** The prefix of its folder, and the folders between that and the file; empty, or without a `/` at its ends. */
  readonly namespace: string;
  /** Its name without its ending. */
  readonly stem: string;
}

/** The files that were found, and the folders that could not be read. */
export interface SourceFiles {
  readonly files: readonly SourceFile[];
  readonly problems: readonly Problem[];
}

/**
 * The files of folders: folder by folder, in each sorted by code unit, each once. What lies below a name that begins with `_` or
 * `.`, or below `node_modules`, is left out, and links are not followed (prompts.md 12).
 */
export async function sourceFiles(
  folders: readonly SourceFolder[],
  { kinds, ...place }: WalkPlace & { readonly kinds: readonly SourceKind[] },
): Promise<SourceFiles> {
  const found = await Promise.all(folders.map((folder) => new Walk(place, kinds).of(folder)));
  const byPath = new Map<string, SourceFile>();
  for (const file of found.flatMap(({ files }) => files)) {
    if (kinds.includes(file.kind) && !byPath.has(file.path)) byPath.set(file.path, file);
  }
  return { files: [...byPath.values()], problems: found.flatMap(({ problems }) => problems) };
}

interface WalkPlace extends ProjectPlace {
  /** The modules that are at hand without a file, by their absolute paths. */
  readonly modules?: readonly string[];
}

/** A folder on the way. */
interface Place {
  /** Absolute. */
  readonly path: string;
  /** From the root; empty, or with a `/` at its end. */
  readonly file: string;
  /** From the folder where the walk began; empty, or with a `/` at its end. */
  readonly way: string;
  readonly namespace: string;
}

class Walk {
  /** By its way from the folder where the walk began. */
  readonly #files = new Map<string, SourceFile>();
  readonly #problems: Problem[] = [];
  readonly #place: WalkPlace;
  readonly #kinds: readonly SourceKind[];

  constructor(place: WalkPlace, kinds: readonly SourceKind[]) {
    this.#place = place;
    this.#kinds = kinds;
  }

  async of({ path, prefix, isMissing }: SourceFolder): Promise<SourceFiles> {
    const file = projectPath(path, this.#place.root);
    const top = { path, file: file === "" ? "" : `${file}/`, way: "", namespace: prefix };
    if (!isMissing) await this.#folder(top);
    for (const module of this.#place.modules ?? []) this.#module(module, top);
    const files = [...this.#files].sort(([a], [b]) => a < b ? -1 : 1).map(([, source]) => source);
    return { files, problems: this.#problems };
  }

  async #folder(at: Place): Promise<void> {
    const below: Promise<void>[] = [];
    for (const { name, kind, link } of await this.#list(at)) {
      if (isLeftOut(name)) continue;
      if (link) {
        if (kind === "other" && this.#isWanted(name)) below.push(this.#deadLink(name, at));
      } else if (kind === "folder") below.push(this.#folder(insideOf(at, name)));
      else if (kind === "file") this.#file(name, at);
    }
    await Promise.all(below);
  }

  /** The name is that of a source, or may be that of a folder. */
  #isWanted(name: string): boolean {
    const form = formOf(name);
    return form === undefined ? !name.includes(".") : this.#kinds.includes(form.kind);
  }

  /** Tells of a link that leads nowhere: somebody thinks that there is a prompt. */
  async #deadLink(name: string, { path: folder, file: before }: Place): Promise<void> {
    const { files } = this.#place;
    const path = pathIn(folder, name);
    const file = `${before}${name}`;
    try {
      await files.stat(path); // a socket, say, which is no source
    } catch (thrown) {
      if (!(thrown instanceof FileError)) throw thrown;
      const message = thrown.code === "not-found"
        ? `this is a link to ${await this.#targetOf(
          path,
        )}, which does not exist; put the file itself here, since links are not followed`
        : messageOf(thrown).replaceAll(path, file);
      this.#problems.push({ file, line: 1, message });
    }
  }

  /** Within the project it is named from its root. */
  async #targetOf(path: string): Promise<string> {
    const { files, root } = this.#place;
    return JSON.stringify(pathFromFolder(await files.resolve(path), root));
  }

  /** A module counts where its file would be found. */
  #module(path: string, top: Place): void {
    if (!isInside(path, top.path)) return;
    const names = projectPath(path, top.path).split("/");
    const name = names.at(-1) ?? "";
    if (names.some(isLeftOut) || !MODULE.test(name)) return;
    const at = names.slice(0, -1).reduce(insideOf, top);
    if (!this.#files.has(`${at.way}${name}`)) this.#file(name, at);
  }

  #file(name: string, { path, file, way, namespace }: Place): void {
    const form = formOf(name);
    if (form === undefined) return;
    const { kind, ending } = form;
    const stem = name.replace(ending, "");
    this.#files.set(`${way}${name}`, {
      kind,
      path: pathIn(path, name),
      file: `${file}${name}`,
      namespace,
      stem,
    });
  }

  async #list({ path, file: folder }: Place): ReturnType<ProjectPlace["files"]["list"]> {
    try {
      return await this.#place.files.list(path);
    } catch (thrown) {
      if (!(thrown instanceof FileError)) throw thrown;
      const file = folder.slice(0, -1);
      this.#problems.push({ file, line: 1, message: messageOf(thrown).replaceAll(path, file) });
      return [];
    }
  }
}

/** The folder of a name in another one. */
function insideOf({ path, file, way, namespace }: Place, name: string): Place {
  return {
    path: pathIn(path, name),
    file: `${file}${name}/`,
    way: `${way}${name}/`,
    namespace: namespace === "" ? name : `${namespace}/${name}`,
  };
}

/** Both are in their one form already. */
function pathIn(folder: string, name: string): string {
  return folder.endsWith(sep) ? folder + name : `${folder}${sep}${name}`;
}

function isLeftOut(name: string): boolean {
  return name.startsWith("_") || name.startsWith(".") || name === "node_modules";
}

const MODULE = /(?<!\.d|\.test|_test)\.ts$/;

interface Form {
  readonly kind: SourceKind;
  readonly ending: RegExp;
}

function formOf(name: string): Form | undefined {
  return FORMS.find(({ ending }) => ending.test(name));
}

const FORMS: readonly Form[] = [
  { kind: "text", ending: /\.prompt\.md$/ },
  { kind: "dotprompt", ending: /\.prompt$/ },
  { kind: "module", ending: MODULE },
];
