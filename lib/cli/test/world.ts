// The world of a test: it reads the project, and nothing that it does reaches the project.

import { overlayFiles } from "../../core/overlay_files.ts";
import { join, relative, resolve, sep } from "node:path";
import type { Shell } from "../../core/world.ts";
import { hostFiles } from "../../host/files.ts";
import { realPath } from "../../host/paths.ts";
import { hostShell } from "../../host/shell.ts";
import { copyFile, temporaryFolder } from "../../host/temporary_folder.ts";
import { createPolicy } from "../../policy/policy.ts";
import { parsePolicyFlags } from "../../policy/policy_flags.ts";
import type { DocumentWorld } from "../../project/bounded_world.ts";
import type { TestField } from "./field.ts";

/** A world with the folder of the test in it. */
export interface TestWorld extends AsyncDisposable {
  readonly world: DocumentWorld;
  /** The folder of the test's file, in this world: absolute. */
  readonly folder: string;
}

/** More of a project than a test is to copy. */
const MAX_FILES = 2000;
const NOT_COPIED = /^(\.|node_modules$|dist$|coverage$)/;

/**
 * Makes the world of a test. Files are written in memory and commands are scripted; where real commands may run, it is a copy of the
 * project in a temporary folder.
 *
 * @param folder of the test's file: absolute
 */
export async function testWorld(
  test: TestField,
  { root, folder, files: given }: {
    readonly root: string;
    readonly folder: string;
    readonly files: Readonly<Record<string, string>>;
  },
): Promise<TestWorld> {
  const commands = test.at("commands");
  const kinds = new Set(test.at("allow").items().map((kind) => kind.text()));
  if (kinds.has("run") && !commands.isThere) return await copiedWorld({ root, folder, files: given, kinds });
  const files = Object.fromEntries(
    Object.entries(given).map(([path, text]) => [resolve(folder, path), text]),
  );
  const world = {
    root,
    files: overlayFiles(hostFiles({ root }), { root, files }),
    policy: policyOf(commands.isThere ? kinds.add("run") : kinds, root),
    shell: scriptedShell(commands.items()),
  };
  return { world, folder, [Symbol.asyncDispose]: () => Promise.resolve() };
}

async function copiedWorld(
  { root, folder, files: given, kinds }: {
    readonly root: string;
    readonly folder: string;
    readonly files: Readonly<Record<string, string>>;
    readonly kinds: ReadonlySet<string | undefined>;
  },
): Promise<TestWorld> {
  const copy = await temporaryFolder();
  for (const path of await projectFiles(root)) await copyFile(join(root, path), { folder: copy.path, path });
  const files = hostFiles({ root: copy.path });
  const within = resolve(copy.path, relative(root, folder));
  for (const [path, text] of Object.entries(given)) await files.writeText(resolve(within, path), text);
  return {
    world: { root: copy.path, files, policy: policyOf(kinds, copy.path), shell: hostShell() },
    folder: within,
    [Symbol.asyncDispose]: () => copy[Symbol.asyncDispose](),
  };
}

/** Paths of the files of a project, without hidden ones and those that are made or fetched. */
async function projectFiles(root: string): Promise<readonly string[]> {
  const files = hostFiles({ root });
  const found: string[] = [];
  const walk = async (folder: string): Promise<void> => {
    for (const { name, kind, link } of await files.list(folder)) {
      if (link || NOT_COPIED.test(name)) continue;
      const path = folder === "." ? name : `${folder}${sep}${name}`;
      if (kind === "folder") await walk(path);
      else if (kind === "file") found.push(path);
      if (found.length > MAX_FILES) {
        throw new Error(
          `the project has more than ${MAX_FILES} files: too many to copy for a test with real commands; script them with commands`,
        );
      }
    }
  };
  await walk(".");
  return found;
}

function policyOf(
  kinds: ReadonlySet<string | undefined>,
  root: string,
): NonNullable<DocumentWorld["policy"]> {
  const flags = [...kinds].map((kind) => ({
    name: `allow-${kind}`,
    value: kind === "write" ? root : true as const,
  }));
  return createPolicy(parsePolicyFlags(flags), { root, cwd: root, realPath });
}

/** Gives what the test says, each once, in order; the first unused one whose `when` fits. */
function scriptedShell(commands: readonly TestField[]): Shell {
  const left = new Set(commands);
  return {
    run(command, { args = [], onOutput }) {
      const script = args.at(-1) ?? command;
      const found = [...left].find((each) => new RegExp(each.at("when").text() ?? "", "u").test(script));
      if (found === undefined) {
        return Promise.reject(new Error(`the test has no command left for ${JSON.stringify(script)}`));
      }
      left.delete(found);
      const stdout = found.at("output").text() ?? "";
      if (stdout !== "") onOutput?.(stdout, "stdout");
      const exitCode = found.at("exit").number() ?? 0;
      return Promise.resolve({ exitCode, stdout, stderr: "", truncated: false, dropped: 0, stopped: false });
    },
  };
}
