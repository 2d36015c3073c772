import { calls } from "./calls/calls.ts";
import { conversation } from "./conversation/conversation.ts";
import { basename } from "node:path";
import { ask, chat } from "./dialog/dialog.ts";
import { document } from "./document/document.ts";
import { UsageError } from "../exit_code.ts";
import type { Kind, KindFiles } from "./kind.ts";
import { prompt } from "./prompt/prompt.ts";

/** Every kind there is, in the order in which a check looks at their files. */
export const KINDS: readonly Kind[] = [document, calls, conversation, prompt, ask, chat];

/** The kind of a file, by its name. */
export function kindOfFile(path: string, kinds: readonly Kind[]): Kind | undefined {
  return kinds.find(({ file }) => file?.is(basename(path)));
}

/** The kind whose tests are in a file, by its name. */
export function kindOfTests(path: string, kinds: readonly Kind[]): Kind | undefined {
  const [, name] = /\.(\w+)-test\.ya?ml$/.exec(path) ?? [];
  return kinds.find((kind) => kind.name === name && kind.test !== undefined);
}

/** How the names of files of tests end. */
export function testEndings(kinds: readonly Kind[]): readonly string[] {
  return kinds.flatMap(({ name, test }) => test === undefined ? [] : `.${name}-test.yml`);
}

/** "a document" */
export function aFile({ word }: KindFiles): string {
  return `${/^[aeiou]/.test(word) ? "an" : "a"} ${word}`;
}

/** The files that there are: "a document (.md)". */
export function fileWords(kinds: readonly Kind[]): readonly string[] {
  return kinds.flatMap(({ file }) => file === undefined ? [] : `${aFile(file)} (${file.endings})`);
}

/** @throws {UsageError} for what a run has left: it is no file to run or to look at */
export function assertNoResult(
  word: string,
  kinds: readonly Kind[],
  command: "run" | "show" | "graph",
): void {
  if (!kinds.some(({ file }) => file?.isResult?.(word))) return;
  const source = `${word.slice(0, word.lastIndexOf("."))}.md`;
  const hint = command === "run"
    ? `run the document itself, orrery run ${source}`
    : `name the document itself, ${source}`;
  throw new UsageError(`${JSON.stringify(word)} is the result of a document: ${hint}`, command);
}

/** What a file may be, in words. */
export function eitherOf(kinds: readonly Kind[]): string {
  return new Intl.ListFormat("en-GB", { type: "disjunction" }).format(
    fileWords(kinds),
  );
}

/** The kind of a run. */
export function kindNamed(name: string, kinds: readonly Kind[]): Kind | undefined {
  return kinds.find((kind) => kind.name === name);
}
