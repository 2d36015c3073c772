import type { DocumentInputs } from "../document/input_block.ts";
import { piecesOf } from "../document/live_node.ts";
import { nodeTexts } from "../document/node_text.ts";
import { parseResult } from "../parse/parse_result.ts";
import type { CheckContext } from "./check_context.ts";
import { inputProblems } from "./check_inputs.ts";
import type { DocumentSource } from "./document_source.ts";
import { NO_FILE } from "./problem_list.ts";

/** What the command line gives a document; what is wrong with it is told (documents.md 10.4). */
export async function entryInput({ file }: DocumentSource, context: CheckContext): Promise<DocumentInputs> {
  const { input = {}, callers = [] } = context.options;
  const { prompt, values = {} } = input;
  const given = Object.keys(values);
  const hint = (name: string): string => ` (--input ${name}=...)`;
  for (const { message } of callers.length > 0 ? [] : inputProblems(file, { given, hint })) {
    context.problems.error(NO_FILE, message);
  }
  const text = await blockText(context);
  return {
    pieces: piecesOf(parseResult(text, { newline: file.tree.newline, operations: false }).nodes),
    values: file.settings.inputs.map(({ name, default: fallback }) => ({
      name,
      value: Object.hasOwn(values, name) ? values[name] ?? "" : fallback ?? "",
    })),
    prompt,
  };
}

async function blockText({ options, files, problems }: CheckContext): Promise<string> {
  const texts: string[] = [];
  for (const { file, reference } of options.input?.blocks ?? []) {
    const opened = await files.open(files.shown(file));
    if ("failure" in opened) {
      problems.error(NO_FILE, opened.failure.message(file));
      continue;
    }
    const source = opened.value;
    const selection = source.select([reference]);
    for (const message of selection.problems) problems.error(NO_FILE, `${message} of "${file}"`);
    if (selection.problems.length === 0) texts.push(nodeTexts(source.live.select([reference])));
  }
  return texts.join("\n\n");
}
