import {
  isJsonObject,
  type Model,
  ModelError,
  type ModelPart,
  objectOrEmpty,
  type RecordLine,
} from "../core/core.ts";
import { readRecord } from "../journal/record_file.ts";

/** A model that gives the answers of a record, one after the other, whatever it is asked. @throws {SourceError} for a file that is no record */
export function replayModel(file: string, text: string): Model {
  const answers = answersOf(readRecord(text, { file }).lines);
  let asked = 0;
  return {
    id: `replay/${file}`,
    async *stream() {
      const parts = answers[asked++];
      if (parts === undefined) {
        throw new ModelError(
          `The record ${JSON.stringify(file)} has ${answers.length} answer${
            answers.length === 1 ? "" : "s"
          }, and this is question ${asked}`,
          { code: "request" },
        );
      }
      yield* parts;
      if (parts.at(-1)?.type !== "finish") {
        throw new ModelError(`Answer ${asked} of the record ${JSON.stringify(file)} broke off`, {
          code: "network",
        });
      }
      await Promise.resolve();
    },
  };
}

function answersOf(lines: readonly RecordLine[]): readonly (readonly ModelPart[])[] {
  const answers = new Map<string, ModelPart[]>();
  for (const line of lines) {
    if (line.type === "step" && line.kind === "model") answers.set(line.key, []);
    else if (line.type === "part") answers.get(line.key)?.push(...partsOf(line));
  }
  return [...answers.values()];
}

/** What is not shown to anybody, such as how a call grows, is left out. */
function partsOf({ part }: Extract<RecordLine, { readonly type: "part" }>): readonly ModelPart[] {
  if (!isJsonObject(part)) return [];
  const { type, text, call, reason, usage, model } = part;
  if (type === "text" && typeof text === "string") return [{ type, text }];
  if (type === "call" && call !== undefined && isJsonObject(call)) {
    const { id, name, arguments: given } = call;
    return [{ type, call: { id: String(id), name: String(name), arguments: String(given ?? "") } }];
  }
  if (type !== "finish") return [];
  const counted = objectOrEmpty(usage);
  return [{
    type,
    reason: FINISHES.find((each) => each === reason) ?? "other",
    usage: { input: Number(counted.input ?? 0), output: Number(counted.output ?? 0) },
    model: String(model),
  }];
}

const FINISHES = ["stop", "length", "calls", "filter", "error", "other"] as const;
