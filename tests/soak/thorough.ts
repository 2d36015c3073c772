// Tests that `deno task test` runs a part of, whole: those that ask `_thorough.ts`, and properties, with other values at each run. And attacks
// in the binary, where there is one.

const FOLDERS = ["tests", "tests/long", "tests/page", "tests/timed", "tests/timed/long"];
const IN_BINARY = /^tests\/long\/sandbox_(hostile_project|own_attacks|races)_test\.ts$/;
const BINARY = "dist/orrery";

/** Runs them one after the other. @throws {Error} with what they told when one of them failed */
export async function thorough(): Promise<string> {
  const files = (await Promise.all(FOLDERS.map(askingFiles))).flat().sort();
  const passed = [await tested(files, {})];
  const hasBinary = await Deno.stat(BINARY).then(() => true, () => false);
  if (!hasBinary) return `${passed} tests; not run here: ${BINARY}, which deno task compile makes`;
  passed.push(await tested(files.filter((file) => IN_BINARY.test(file)), { ORRERY_BINARY: BINARY }));
  return `${passed[0]} tests, and ${passed[1]} in the binary`;
}

async function askingFiles(folder: string): Promise<readonly string[]> {
  const names = (await Array.fromAsync(Deno.readDir(folder))).map(({ name }) => name);
  const files = names.filter((name) => name.endsWith("_test.ts")).map((name) => `${folder}/${name}`);
  const texts = await Promise.all(files.map((file) => Deno.readTextFile(file)));
  return files.filter((_, at) => /_thorough\.ts"|from "fast-check"/.test(texts[at] ?? ""));
}

async function tested(files: readonly string[], env: Readonly<Record<string, string>>): Promise<number> {
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      "test",
      "--config",
      "tests/deno_tests.json",
      "-A",
      "--no-check",
      ...files,
    ],
    env: { ORRERY_THOROUGH: "1", NO_COLOR: "1", ...env },
    stdout: "piped",
    stderr: "piped",
  }).output();
  const told = new TextDecoder().decode(stdout);
  const passed = /^ok \| (\d+) passed/m.exec(told)?.[1];
  if (!success || passed === undefined) throw new Error(told + new TextDecoder().decode(stderr));
  return Number(passed);
}
