import {
  type Clock,
  type Json,
  type Message,
  messageOf,
  type Model,
  ModelError,
  type ModelPart,
  type ModelRequest,
  parseJson,
  ProblemsError,
  SourceError,
  type Span,
  textOf,
  toJson,
} from "../../core/core.ts";
import { parseYaml, type YamlDocument } from "../../parse/yaml/yaml.ts";
import { codeOf, shortened } from "../said_by.ts";
import { readReply, type ReplyProblem, type ScriptReply } from "./reply.ts";

/** A model that gives the replies of a script, in order, each once; the first unused one whose `when` fits. */
export function scriptModel(
  replies: readonly ScriptReply[],
  options: { readonly id: string; readonly clock: Clock },
): Model {
  const { id, clock } = options;
  const used = new Set<ScriptReply>();
  let calls = 0;
  const nextReply = (last: Message | undefined): ScriptReply | undefined => {
    const text = last === undefined ? "" : textOf(last);
    return replies.find((each) => !used.has(each) && (each.when?.test(text) ?? true));
  };
  const use = (reply: ScriptReply): void => {
    if (!reply.repeat) used.add(reply);
  };
  return {
    id,
    answered: ({ messages }, { isFailure }) => {
      const last = messages.at(-1);
      let reply = nextReply(last);
      while (!isFailure && reply?.error !== undefined && !reply.repeat) { // it was tried again
        use(reply);
        reply = nextReply(last);
      }
      if (reply === undefined || (reply.error !== undefined) !== isFailure) return; // the script is another one by now
      use(reply);
      calls += reply.calls.length;
    },
    async *stream(request: ModelRequest): AsyncGenerator<ModelPart> {
      const last = request.messages.at(-1);
      const reply = nextReply(last);
      if (reply === undefined) throw usedUp(id, { last, used: used.size, all: replies.length });
      use(reply);
      for (const text of reply.chunks) {
        if (reply.delayMs > 0) await clock.sleep(reply.delayMs, request.signal);
        request.signal?.throwIfAborted();
        if (text !== "") yield { type: "text", text };
      }
      if (reply.error !== undefined) throw errorOf(reply.error, id);
      for (const call of reply.calls) yield* callParts({ ...call, id: `call_${++calls}` });
      const reason = reply.calls.length > 0 ? "calls" : "stop";
      yield { type: "finish", reason, usage: { input: 0, output: 0 }, model: id };
    },
  };
}

function* callParts(call: Extract<ModelPart, { type: "call" }>["call"]): Generator<ModelPart> {
  yield { type: "call-start", id: call.id, name: call.name };
  yield { type: "call-delta", id: call.id, text: call.arguments };
  yield { type: "call", call };
}

function errorOf(
  { status, message, retryAfterMs }: NonNullable<ScriptReply["error"]>,
  id: string,
): ModelError {
  return new ModelError(`${id}: ${message}${status === undefined ? "" : ` (${status})`}`, {
    code: status === undefined ? "server" : codeOf(status, message),
    status,
    retryAfterMs,
  });
}

function usedUp(
  id: string,
  { last, used, all }: { readonly last: Message | undefined; readonly used: number; readonly all: number },
): ModelError {
  const left = used === all ? `all ${all} replies are used` : `none of the ${all - used} replies left fits`;
  const shown = last === undefined
    ? "no message"
    : `${last.role}: ${JSON.stringify(shortened(textOf(last)))}`;
  return new ModelError(`${id} has no reply: ${left}. The last message is ${shown}`, { code: "request" });
}

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
