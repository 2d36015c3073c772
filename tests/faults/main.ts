// deno task faults [--tree DIR] [--most FILES] [NUMBER...]: puts each of the thirty small faults of faults.json into a copy of a tree, one at a time, and says whether
// the fast tests find it, all of them or the FILES that are nearest to it. A fault is found when a test file fails with it twice and passes without it. A line that is not
// in the tree any more has to be mapped by hand in faults.json: `line` is what stands there once, `fault` what takes its place.

import { parseArgs } from "node:util";

interface Fault {
  readonly kind: string;
  readonly line: string;
  readonly fault: string;
}

/** Test files of one call of `deno test`. */
const AT_ONCE = 12;
/** The folders that `deno task test:fast` leaves out, and those whose tests are about something else. */
const NOT_FAST = [
  "tests/long/",
  "tests/page/",
  "tests/timed/long/",
  "tests/architecture_test.ts",
  "tests/spec/",
];

const { values, positionals } = parseArgs({
  options: { tree: { type: "string" }, most: { type: "string" } },
  allowPositionals: true,
});
const most = Number(values.most ?? Infinity);
const faults: readonly Fault[] = JSON.parse(
  await Deno.readTextFile(new URL("faults.json", import.meta.url)),
);
const tree = await copyOf(values.tree ?? new URL("../..", import.meta.url).pathname);
const sources = [...files(`${tree}/lib`), ...files(`${tree}/gadgets`)].filter((file) => /\.tsx?$/.test(file));
const tests = [...files(`${tree}/tests`)].filter((file) =>
  file.endsWith("_test.ts") && !NOT_FAST.some((folder) => file.startsWith(`${tree}/${folder}`))
);
/** They fail without any fault. */
const broken = new Set<string>();

let found = 0;
const wanted = positionals.length === 0
  ? faults.map((_, at) => at)
  : positionals.map((text) => Number(text) - 1);
for (const at of wanted) {
  const fault = faults[at];
  if (fault === undefined) throw new Error(`no fault ${at + 1}; there are ${faults.length}`);
  const by = await findingFile(fault);
  if (by !== undefined) found++;
  console.log(`${at + 1} ${fault.kind} ${by === undefined ? "NOT FOUND" : `found by ${by}`}: ${fault.fault}`);
}
console.log(`${found} of ${wanted.length} found`);
await Deno.remove(tree, { recursive: true });

/** The test file that finds it. */
async function findingFile({ line, fault }: Fault): Promise<string | undefined> {
  const places = sources.filter((file) => linesOf(file).some((each) => each.trim() === line));
  const [file] = places;
  if (file === undefined || places.length > 1) throw new Error(`stands in ${places.length} files: ${line}`);
  const text = Deno.readTextFileSync(file);
  const faulty = linesOf(file).map((each) => each.trim() === line ? each.replace(line, () => fault) : each)
    .join("\n");
  const left = byNearness(tests, { file, line }).slice(0, most);
  while (left.length > 0) {
    Deno.writeTextFileSync(file, faulty);
    const failing = await failingOf(left.splice(0, AT_ONCE));
    for (const test of failing) {
      if (broken.has(test)) continue;
      Deno.writeTextFileSync(file, faulty);
      const again = await failingOf([test]);
      Deno.writeTextFileSync(file, text);
      if (again.length === 0) continue;
      if ((await failingOf([test])).length === 0) return test.slice(tree.length + 1);
      broken.add(test);
    }
  }
  Deno.writeTextFileSync(file, text);
  return undefined;
}

/** Those come first whose texts have most of the words of the path and of the line: one that is found is then found soon. */
function byNearness(
  tests: readonly string[],
  { file, line }: { readonly file: string; readonly line: string },
): string[] {
  const words = [...new Set(`${file.slice(tree.length)} ${line}`.toLowerCase().match(/[a-z]{4,}/g))];
  const near = new Map(tests.map((test) => {
    const text = (test + Deno.readTextFileSync(test)).toLowerCase();
    return [test, words.filter((word) => text.includes(word)).length];
  }));
  return [...tests].sort((a, b) => (near.get(b) ?? 0) - (near.get(a) ?? 0));
}

async function failingOf(files: readonly string[]): Promise<readonly string[]> {
  const config = `${tree}/tests/deno_tests.json`;
  const hasConfig = [...Deno.readDirSync(`${tree}/tests`)].some(({ name }) => name === "deno_tests.json");
  const { stdout, code } = await new Deno.Command(Deno.execPath(), {
    args: ["test", ...hasConfig ? ["--config", config] : [], "-A", "--no-check", "--parallel", ...files],
    cwd: tree,
    env: { NO_COLOR: "1" },
    stderr: "null",
  }).output();
  if (code === 0) return [];
  const text = new TextDecoder().decode(stdout);
  const names = [
    ...text.matchAll(/=> \.\/(tests\/[\w/]+_test\.ts):\d+/g),
    ...text.matchAll(/^\.\/(tests\/[\w/]+_test\.ts) \(uncaught error\)/gm),
  ]
    .map(([, name]) => `${tree}/${name}`);
  // One that does not load names no test.
  return names.length > 0
    ? [...new Set(names)]
    : files.length === 1
    ? files
    : (await Promise.all(files.map((file) => failingOf([file])))).flat();
}

function linesOf(file: string): readonly string[] {
  return Deno.readTextFileSync(file).split("\n");
}

function* files(folder: string): Generator<string> {
  for (const { name, isDirectory } of Deno.readDirSync(folder)) {
    if (isDirectory) yield* files(`${folder}/${name}`);
    else yield `${folder}/${name}`;
  }
}

/** What is committed, in a folder of its own. */
async function copyOf(root: string): Promise<string> {
  const folder = await Deno.makeTempDir({ prefix: "orrery-faults-" });
  const { success } = await new Deno.Command("git", { args: ["clone", "-q", root, folder] }).output();
  if (!success) throw new Error(`git clone of ${root} failed`);
  return folder;
}
