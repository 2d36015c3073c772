import { messageOf } from "../core/source_error.ts";
import { definePrompt } from "../prompt/define_prompt.ts";
import type { DotpromptFile } from "../prompt/dotprompt_file.ts";
import { dotpromptRenderer } from "../prompt/dotprompt_renderer.ts";
import type { HandlebarsBodies } from "../prompt/handlebars_body.ts";
import { locatedProblem } from "./located_problem.ts";
import { keyOfFile, type MadePrompt, type ReadSource } from "./prompt_claim.ts";
import type { SourceFile } from "./source_files.ts";

/** The prompt of a `*.prompt` file that was read (prompts.md 12). */
export function dotpromptPrompt(
  file: DotpromptFile,
  source: SourceFile,
  bodies: HandlebarsBodies,
): ReadSource {
  const { lines, problems } = file;
  if (problems.length > 0) return { claims: [], problems };
  try {
    const key = keyOfFile(source, file.name);
    const claim = { key, source, value: file, isSteady: true, make: () => make(file, key, bodies) };
    return { claims: [claim], problems };
  } catch (thrown) {
    return { claims: [], problems: [{ line: lines.name ?? 1, message: messageOf(thrown) }] };
  }
}

function make(file: DotpromptFile, key: string, bodies: HandlebarsBodies): MadePrompt {
  const { body, input, format, tools, metadata, lines } = file;
  const fixed = { path: key, template: body, renderer: dotpromptRenderer(input, bodies) };
  const fields = { format, tools, metadata };
  try {
    return { prompt: definePrompt({ ...fixed, ...fields }) };
  } catch (thrown) {
    const problem = locatedProblem(thrown, {
      fields,
      define: (some) => definePrompt({ ...fixed, ...some }),
      lineOf: (field) => lines[field === "format" ? "output" : field],
      templateLine: 1,
      templateErrors: `prompt "${key}": template `,
    });
    return { problems: [problem] };
  }
}
