import { type Json, parseJson, toJson } from "../../core/json.ts";
import { messageOf, ProblemsError, SourceError, type Span } from "../../core/source_error.ts";
import { parseYaml, type YamlDocument } from "../../parse/yaml/yaml.ts";
import { readReply, type ReplyProblem, type ScriptReply } from "./reply.ts";

/**
 * Reads the replies of a script: JSON lines when the file ends in `.jsonl` or `.ndjson`, else a YAML list.
 *
 * @throws {ProblemsError} with every problem and its place
 */
export async function readScript(text: string, file: string): Promise<readonly ScriptReply[]> {
  const problems: SourceError[] = [];
  const replies = /\.(jsonl|ndjson)$/i.test(file)
    ? fromLines(text, { file, problems })
    : await fromYaml(text, { file, problems });
  if (problems.length > 0) throw new ProblemsError(problems);
  return replies;
}

interface Source {
  readonly file: string;
  readonly problems: SourceError[];
}

async function fromYaml(text: string, { file, problems }: Source): Promise<readonly ScriptReply[]> {
  const document = await parseYaml(text, { file, repeated: problems });
  const value = toJson(document.value);
  if (!Array.isArray(value)) {
    const found = value === null ? "an empty file" : "something else";
    problems.push(
      problemAt({ file, line: 1, column: 1 }, {
        text,
        message: `Found ${found}, expected a list of replies`,
      }),
    );
    return [];
  }
  return value.map((item: Json, index) => {
    const found: ReplyProblem[] = [];
    const reply = readReply(item, found);
    for (const { path, what, message } of found) {
      const span = nearestSpan(document, { path: [index, ...path], what });
      problems.push(problemAt(span ?? { file, line: 1, column: 1 }, { text, message }));
    }
    return reply;
  });
}

/** The place of what is at the path or, where nothing is, of what it would be in. */
function nearestSpan(
  document: YamlDocument,
  { path, what }: { readonly path: readonly (string | number)[]; readonly what: "key" | undefined },
): Span | undefined {
  for (let length = path.length; length > 0; length--) {
    const span = document.at(path.slice(0, length), what);
    if (span !== undefined) return span;
  }
  return undefined;
}

function fromLines(text: string, { file, problems }: Source): readonly ScriptReply[] {
  return text.split("\n").flatMap((line, index) => {
    if (line.trim() === "") return [];
    const found: ReplyProblem[] = [];
    const reply = readLine(line, found);
    for (const { message } of found) {
      problems.push(problemAt({ file, line: index + 1, column: 1, length: line.length }, { text, message }));
    }
    return [reply];
  });
}

function readLine(line: string, found: ReplyProblem[]): ScriptReply {
  try {
    return readReply(parseJson(line), found);
  } catch (error) {
    found.push({ path: [], message: `Found a line that is not JSON (${messageOf(error)})` });
    return readReply({ text: "" }, []);
  }
}

function problemAt(span: Span, say: { readonly text: string; readonly message: string }): SourceError {
  return new SourceError(say.message, { span, source: say.text, code: "E-script" });
}
