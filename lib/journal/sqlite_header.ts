/** "Orry", in the header of the file: what tells a journal from any other database (sqlite.org/fileformat2.html 1.3.14). */
export const APPLICATION_ID = 0x4f727279;
/**
 * Of the tables. 2: what a model has said before its end is in `pieces`, no longer whole in `steps.prefix`. 3: conversations, and runs by
 * kind and by file.
 */
export const VERSION = 3;

/** How much of the file {@linkcode isJournalHeader} looks at. */
export const HEADER_BYTES = 72;

/** Whether a file that begins so is a journal of this version; one that was made or brought up to it a moment ago may not say so yet. */
export function isJournalHeader(bytes: Uint8Array): boolean {
  if (bytes.length < HEADER_BYTES) return false;
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  const isSqlite = new TextDecoder().decode(bytes.subarray(0, 16)) === "SQLite format 3\0";
  return isSqlite && view.getUint32(60) === VERSION && view.getUint32(68) === APPLICATION_ID;
}
