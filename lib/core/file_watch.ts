/** Tells when files may have changed. */
export interface FileWatch {
  /**
   * Calls `onChange` after each change at one of the paths (absolute and real, also of what is not there yet), until it is disposed of.
   * It may be called for a change that was none; whoever wants to know looks at the files.
   */
  watch(paths: readonly string[], onChange: () => void): Disposable;
}

/** A watch whose changes the test makes. */
export interface FakeFileWatch extends FileWatch {
  /** What is watched at the moment. */
  readonly watched: readonly string[];
  /** Something has happened at this path. */
  touch(path: string): void;
}

/** A watch for tests: it knows of no files. */
export function fakeFileWatch(): FakeFileWatch {
  const watches = new Set<{ readonly paths: readonly string[]; readonly onChange: () => void }>();
  return {
    get watched() {
      return [...watches].flatMap(({ paths }) => paths);
    },
    watch(paths, onChange) {
      const watch = { paths, onChange };
      watches.add(watch);
      return { [Symbol.dispose]: () => void watches.delete(watch) };
    },
    touch(path) {
      for (const { paths, onChange } of watches) if (paths.includes(path)) onChange();
    },
  };
}
