import type { Json } from "../core/json.ts";
import { messageOf } from "../core/source_error.ts";
import { FileError } from "../core/world.ts";
import { contextFile } from "./context_file.ts";
import type { TestField } from "./test_field.ts";

const KEYS = ["user", "module", "session", "user-config", "user-context-log"];

/** What preloaded slots come from: a mapping, or a text, which names a file as `--context` does. @param folder that it is relative to */
export async function readContext(field: TestField, folder: string): Promise<Json> {
  const { value = {} } = field;
  if (typeof value !== "string") {
    field.withKeys(KEYS);
    return value;
  }
  try {
    return await contextFile(value, { cwd: folder });
  } catch (error) {
    const isFile = error instanceof FileError && error.cause instanceof FileError;
    field.problem(messageOf(isFile ? error.cause : error)); // that one names no flag
    return {};
  }
}
