import { dirname, resolve } from "node:path";
import type { Collection, Embedder, World } from "../../core/core.ts";
import { realPath } from "../../host/paths.ts";
import { isAcceptedHere, openSettings, type ProjectSettings } from "../../project/project.ts";
import { projectCollection } from "../../project/project_collection.ts";
import { projectEmbedder } from "../../project/models.ts";
import { rootFolder } from "./root_folder.ts";
import { createWorld } from "../../project/world.ts";

/** How a collection is opened. */
export interface OpenCollectionOptions {
  /**
   * Where its files are. Default: this machine, and the project that the file is in, of which it may read the root; then its index is kept
   * in `.orrery/` of the project.
   */
  readonly world?: Pick<World, "root" | "files">;
  /** Of a `*.module.yml` file: the session whose contents are searched. Default: all contents. */
  readonly session?: string;
  /**
   * Of a `*.module.yml` file: the collection file whose documents its sources may name by their ids. Default: the configured one; in a
   * world, none.
   */
  readonly collection?: string | URL;
  /**
   * Searches by meaning too: a model of embeddings, or the name of one. Default: the configured one, in a world none; `false`: none.
   */
  readonly embeddings?: string | Embedder | false;
  readonly signal?: AbortSignal;
}

/**
 * Opens the documents that a `*.collection.yml` or a `*.module.yml` file names, for searching (conversations.md 2.8): text, Markdown, HTML
 * and PDF, found by their words, English and German ones best, and with a model of embeddings by their meaning too. What has not changed
 * since the last time is not indexed again.
 *
 * @param file relative to the root of the `world`; without one, to the working folder
 * @throws {ProblemsError} with everything that is wrong with the file, and every document that cannot be read
 * @throws {FileError} when the file is not there, {ModelError} when the model of the embeddings cannot be asked
 *
 * ```ts
 * import { memoryFiles, openCollection } from "orrery";
 *
 * const files = memoryFiles({
 *   "help.collection.yml": 'version: "0.1"\ndocuments:\n  - { id: hours, file: hours.md, metadata: { name: Opening hours } }\n',
 *   "hours.md": "# Opening hours\n\nIn winter we open at ten.\n",
 * });
 * using collection = await openCollection("help.collection.yml", { world: { root: "/project", files } });
 * const [passage] = await collection.search("When do you open in winter?", { limit: 4, secondary: true });
 * console.log(passage?.name, passage?.document); // => Opening hours hours
 * ```
 */
export async function openCollection(
  file: string | URL,
  options: OpenCollectionOptions = {},
): Promise<Collection & Disposable> {
  const { world, session, signal } = options;
  if (world === undefined) return await onThisMachine(file, options);
  const { root, files } = world;
  const inRoot = (path: string | URL): string =>
    typeof path === "string" ? resolve(root, path) : rootFolder(path);
  return await projectCollection(inRoot(file), {
    root,
    files,
    session,
    collection: options.collection === undefined ? undefined : inRoot(options.collection),
    embedder: await embedderOf(options.embeddings, openSettings),
    isKept: false,
    signal,
  });
}

async function onThisMachine(
  file: string | URL,
  { session, collection, embeddings, signal }: OpenCollectionOptions,
): Promise<Collection & Disposable> {
  const path = realPath(rootFolder(file));
  const project = await openSettings(dirname(path));
  const { root, cwd, config: { conversations } } = project;
  const { files } = createWorld({ root, cwd });
  return await projectCollection(path, {
    root,
    files,
    session,
    collection: collection === undefined ? conversations.collection : rootFolder(collection),
    embedder: await embedderOf(embeddings ?? conversations.embeddings, () => Promise.resolve(project)),
    signal,
  });
}

async function embedderOf(
  wanted: OpenCollectionOptions["embeddings"],
  project: () => Promise<ProjectSettings>,
): Promise<Embedder | undefined> {
  if (wanted === undefined || wanted === false) return undefined;
  if (typeof wanted === "object") return wanted;
  const opened = await project();
  const isAccepted = await isAcceptedHere(opened);
  return projectEmbedder({ ...opened, isAccepted, name: wanted });
}
