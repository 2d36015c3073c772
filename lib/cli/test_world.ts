// The world of a test: it reads the project, and nothing that it does reaches the project.

import { overlayFiles } from "../core/overlay_files.ts";
import { join, relative, resolve, sep } from "../core/path.ts";
import type { Shell } from "../core/world.ts";
import { hostFiles } from "../host/files.ts";
import { realPath } from "../host/paths.ts";
import { hostShell } from "../host/shell.ts";
import { copyFile, temporaryFolder } from "../host/temporary_folder.ts";
import { createPolicy } from "../policy/policy.ts";
import { parsePolicyFlags } from "../policy/policy_flags.ts";
import type { DocumentWorld } from "../project/bounded_world.ts";
import type { DocumentTest, ScriptedCommand } from "./document_test_file.ts";

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
  test: DocumentTest,
  { root, folder }: { readonly root: string; readonly folder: string },
): Promise<TestWorld> {
  const isReal = test.allow.includes("run") && test.commands === undefined;
  if (isReal) return await copiedWorld(test, { root, folder });
  const files = Object.fromEntries(
    Object.entries(test.files).map(([path, text]) => [resolve(folder, path), text]),
  );
  const world = {
    root,
    files: overlayFiles(hostFiles({ root }), { root, files }),
    policy: policyOf(test, root),
    shell: scriptedShell(test.commands ?? []),
  };
  return { world, folder, [Symbol.asyncDispose]: () => Promise.resolve() };
}

async function copiedWorld(
  test: DocumentTest,
  { root, folder }: { readonly root: string; readonly folder: string },
): Promise<TestWorld> {
  const copy = await temporaryFolder();
  for (const path of await projectFiles(root)) await copyFile(join(root, path), { folder: copy.path, path });
  const files = hostFiles({ root: copy.path });
  const within = resolve(copy.path, relative(root, folder));
  for (const [path, text] of Object.entries(test.files)) await files.writeText(resolve(within, path), text);
  return {
    world: { root: copy.path, files, policy: policyOf(test, copy.path), shell: hostShell() },
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

function policyOf({ allow, commands }: DocumentTest, root: string): NonNullable<DocumentWorld["policy"]> {
  const kinds = new Set<string>(commands === undefined ? allow : [...allow, "run"]);
  const flags = [...kinds].map((kind) => ({
    name: `allow-${kind}`,
    value: kind === "write" ? root : true as const,
  }));
  return createPolicy(parsePolicyFlags(flags), { root, cwd: root, realPath });
}

/** Gives what the test says, each once, in order; the first unused one whose `when` fits. */
function scriptedShell(commands: readonly ScriptedCommand[]): Shell {
  const used = new Set<ScriptedCommand>();
  return {
    run(command, { args = [], onOutput }) {
      const script = args.at(-1) ?? command;
      const found = commands.find((each) => !used.has(each) && (each.when?.test(script) ?? true));
      if (found === undefined) {
        return Promise.reject(new Error(`the test has no command left for ${JSON.stringify(script)}`));
      }
      used.add(found);
      const { output, exit } = found;
      if (output !== "") onOutput?.(output, "stdout");
      return Promise.resolve({
        exitCode: exit,
        stdout: output,
        stderr: "",
        truncated: false,
        dropped: 0,
        stopped: false,
      });
    },
  };
}
