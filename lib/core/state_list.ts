// What a user decided for good is kept in lists, each a file of the state folder: `{"version": 1, "projects": [...]}`. A list that cannot
// be read is an error, never an empty one: with the next decision the old ones would be lost.
import { isRecord } from "./json.ts";
import { messageOf, SourceError } from "./source_error.ts";

/** What a list is of. */
export interface StateListForm<Entry> {
  /** The key that its entries are under. */
  readonly key: string;
  /** As messages name it: `accepted projects`. */
  readonly of: string;
  /** What the user is asked about again without the list: `project`. */
  readonly each: string;
  /** What an entry must have, in words. */
  readonly needs: string;
  /** The entry; undefined for what is none. */
  entry(value: unknown): Entry | undefined;
}

/** The entries of a list's text. @throws {SourceError} that names the file, when it is not such a list */
export function parseStateList<Entry>(
  text: string,
  { file, form }: { readonly file: string; readonly form: StateListForm<Entry> },
): readonly Entry[] {
  const broken = (reason: string): SourceError =>
    new SourceError(`Cannot read the list of ${form.of} ${JSON.stringify(file)}: ${reason}`, {
      hint: `Mend the file, or delete it: you are then asked about each ${form.each} again.`,
      code: "E-accepted",
    });
  const list = parsed(text, broken);
  const entries = isRecord(list) && list.version === 1 ? list[form.key] : undefined;
  if (!Array.isArray(entries)) throw broken(`expected {"version": 1, "${form.key}": [...]}`);
  return entries.map((value: unknown, index) => {
    const entry = form.entry(value);
    if (entry !== undefined) return entry;
    throw broken(`entry ${index + 1} of "${form.key}" must have ${form.needs}`);
  });
}

/** The text of a list with these entries. */
export function stateListText<Entry>(entries: readonly Entry[], { key }: StateListForm<Entry>): string {
  return `${JSON.stringify({ version: 1, [key]: entries }, null, 2)}\n`;
}

function parsed(text: string, broken: (reason: string) => SourceError): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw broken(`it is not JSON: ${messageOf(error)}`);
  }
}
