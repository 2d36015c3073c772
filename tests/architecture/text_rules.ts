import { TOP_LEVEL } from "./import_table.ts";
import { product, type Rule } from "./project.ts";

/** The type checker is believed: no `any`, no `!`, no comment that silences it or the linter, no note of unfinished work. */
const noEscapes: Rule = ({ modules }) =>
  product(modules).flatMap(([path, facts]) => [
    ...facts.escapes.map(({ what, line }) => `${path}:${line}: ${what}`),
    ...facts.comments.flatMap(({ text, line }) => {
      const found =
        /@ts-(?:ignore|expect-error|nocheck)|deno-lint-ignore|deno-fmt-ignore-file|deno-coverage-ignore|\b(?:TODO|FIXME|XXX)\b/
          .exec(text);
      return found === null ? [] : [`${path}:${line}: a comment says ${found[0]}`];
    }),
  ]);

/** Names: snake_case, no index.ts, nothing called utils, helpers or manager, nothing unexpected at the top. */
const fileNames: Rule = ({ tree }) =>
  [...tree.keys()].flatMap((path) => {
    const [top = "", ...below] = path.split("/");
    if (top.startsWith(".")) return [];
    const problems: string[] = [];
    if (!TOP_LEVEL.has(top)) problems.push(`${path}: "${top}" is not expected at the top of the project`);
    if (path.startsWith("tests/spec/")) return problems;
    const name = below.at(-1) ?? top;
    if (name === "index.ts") problems.push(`${path}: a folder's door is mod.ts, never index.ts`);
    if (
      /^(?:.*_)?(?:utils?|helpers?|managers?)(?:_.*)?(?:\.ts)?$/.test(name) ||
      below.some((part) => /^(?:utils?|helpers?)$/.test(part))
    ) {
      problems.push(`${path}: name the file for the one thing it exports, not utils, helpers or manager`);
    }
    if (name.endsWith(".ts") && !/^_?[a-z0-9]+(?:_[a-z0-9]+)*(?:\.d)?\.ts$/.test(name)) {
      problems.push(`${path}: expected a snake_case name`);
    }
    return problems;
  });

/** The project stands alone: it names no folder of a machine that it was made on. Only the CI script may. */
const standsAlone: Rule = ({ tree }) => {
  const shared = ["..", "shared"].join("/");
  const machine = new RegExp(`(?<![\\w.~/-])/${"work"}(?![\\w-])`);
  return [...tree].flatMap(([path, text]) => {
    if (path.startsWith(".ci/")) return [];
    return text.split("\n").flatMap((line, index) => {
      const found = line.includes(shared) ? shared : machine.exec(line)?.[0];
      return found === undefined
        ? []
        : [`${path}:${index + 1}: says "${found}", a place outside the project`];
    });
  });
};

/** The rules about names and words. */
export const TEXT_RULES: Readonly<Record<string, Rule>> = { noEscapes, fileNames, standsAlone };
