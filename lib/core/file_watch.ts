/** Tells when files may have changed. */
export interface FileWatch {
  /**
   * Calls `onChange` after each change at one of the paths (absolute and real, also of what is not there yet), until it is disposed of.
   * It may be called for a change that was none; whoever wants to know looks at the files.
   */
  watch(paths: readonly string[], onChange: () => void): Disposable;
}
