import assert from "node:assert/strict";
import nodePath from "node:path";
import fc from "fast-check";
import { pathsOf } from "../lib/core/path.ts";

const part = fc.constantFrom("a", "b.txt", ".hidden", "x.tar.gz", "..", ".", "...", "", "a b", "ü");
const posix = fc.tuple(fc.constantFrom("", "/", "//", "./"), fc.array(part, { maxLength: 6 })).map((
  [root, parts],
) => root + parts.join("/"));
const windows = fc.tuple(
  fc.constantFrom("", "C:\\", "c:/", "\\", "D:\\\\", "\\\\server\\share\\", ".\\"),
  fc.array(fc.tuple(part, fc.constantFrom("\\", "/")), { maxLength: 6 }),
).map(([root, parts]) => root + parts.map(([name, sep]) => name + sep).join("").replace(/[\\/]$/, ""))
  .filter((path) => !/^[\\/]{2}(?!server)/.test(path)); // half a share is neither here nor there

const absolute = {
  posix: posix.map((path) => `/${path}`),
  windows: windows.map((path) => `C:\\${path.replace(/^.*?[:\\/]+/, "")}`),
};

for (
  const [system, any, oracle] of [["posix", posix, nodePath.posix], [
    "windows",
    windows,
    nodePath.win32,
  ]] as const
) {
  const ours = pathsOf(system);

  Deno.test(`property: paths, ${system}: as node:path has it`, () => {
    fc.assert(
      fc.property(
        any,
        any.filter((path) => !path.includes(":")),
        absolute[system],
        absolute[system],
        (path, other, from, to) => {
          assert.equal(ours.isAbsolute(path), oracle.isAbsolute(path), `isAbsolute ${path}`);
          assert.equal(ours.join(path, other), oracle.join(path, other), `join ${path}, ${other}`);
          assert.equal(ours.resolve(from, path), oracle.resolve(from, path), `resolve ${from}, ${path}`);
          assert.equal(ours.relative(from, to), oracle.relative(from, to), `relative ${from}, ${to}`);
          const whole = ours.resolve(from, path);
          assert.equal(ours.dirname(whole), oracle.dirname(whole), `dirname ${whole}`);
          if (ours.dirname(whole) === whole) return; // a root has no name; node calls a share by its own
          assert.equal(
            ours.basename(whole, ".txt"),
            oracle.basename(whole, ".txt"),
            `basename ${whole}, .txt`,
          );
          assert.equal(ours.basename(whole), oracle.basename(whole), `basename ${whole}`);
          assert.equal(ours.extname(whole), oracle.extname(whole), `extname ${whole}`);
        },
      ),
      { numRuns: 5000 },
    );
  });
}
