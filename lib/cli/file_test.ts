// Tests kept as files: what every kind of them has in common.

import type { Span } from "../core/source_error.ts";
import type { TestProjects } from "./test_projects.ts";

/** A test that was read. */
export interface FileTest {
  readonly name: string;
  /** Where it stands. */
  readonly span: Span;
  /** Runs it; gives what is not as expected. */
  run(): Promise<readonly TestFailure[]>;
}

/** Something that is not as expected. */
export interface TestFailure {
  /** What was looked at: `value`, `blocks/summary`, ... */
  readonly what: string;
  /** Of the expectation. */
  readonly span: Span;
  /** In one sentence. */
  readonly message: string;
  /** Line by line, where two texts were compared. */
  readonly diff?: string;
}

/** A file of tests, as it is read. */
export interface TestSource {
  readonly text: string;
  /** As it was named. */
  readonly file: string;
  /** The same, absolute. */
  readonly path: string;
}

/** A kind of test files. */
export interface TestKind {
  readonly endings: readonly string[];
  /** Gives the reader of the kind. */
  load(): Promise<(source: TestSource, projects: TestProjects) => Promise<readonly FileTest[]>>;
}
