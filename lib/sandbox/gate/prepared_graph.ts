/** A module of a gadget, ready to run. */
export interface PreparedModule {
  /** The real, absolute path of the original. */
  readonly path: string;
  /** How messages name it: from the working folder. */
  readonly file: string;
  /** Of the bytes of the original, 64 hexadecimal digits. */
  readonly sha256: string;
  /** The name of the file that it is written to: `0.js` for the entry. */
  readonly output: string;
  /** JavaScript; what it imports are outputs beside it, facades (`facadeFile`), and modules of Node and of npm. */
  readonly code: string;
  /** From `code` to the original: a source map (version 3), JSON. Absent when every place is the same in both. */
  readonly map?: string;
}

/** Everything that a gadget's module imports, itself first. */
export interface PreparedGraph {
  readonly modules: readonly PreparedModule[];
  /** Of the paths below the entry's folder and the hashes there: 64 hexadecimal digits. */
  readonly hash: string;
}
