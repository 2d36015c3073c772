import { isRecord } from "../../core/json.ts";
import { measure } from "../../schema/text_value.ts";
import { checkPrepared } from "../check_prepared.ts";
import { type CheckedValue, issueLines, prepareAnyType } from "../check_value.ts";
import type { Renderer } from "../prompt.ts";
import { RenderError } from "../value_text.ts";
import type { DotpromptInput } from "./dotprompt.ts";
import type { HandlebarsBodies } from "./handlebars.ts";

/** Renders the body of a `*.prompt` file: the arguments over its defaults, checked by its schema (prompts.md 12). */
export function dotpromptRenderer(input: DotpromptInput, bodies: HandlebarsBodies): Renderer {
  const { schema, default: defaults = {} } = input;
  const check = (values: Readonly<Record<string, unknown>>): CheckedValue => {
    if (schema === undefined) return { value: values };
    const prepared = prepareAnyType(schema); // the first time it takes a while: not for every prompt that is found
    if ("broken" in prepared) {
      return { issues: [{ path: [], message: `the schema is broken${prepared.broken}` }] };
    }
    const { size, problem } = measure(values);
    return problem === undefined
      ? checkPrepared(prepared, { value: values, size })
      : { issues: [{ path: [], message: `cannot be read: ${problem}` }] };
  };
  return {
    render(body, args) {
      const given = Object.entries(args).filter(([, value]) => value !== undefined);
      const checked = check({ ...defaults, ...Object.fromEntries(given) });
      if ("issues" in checked) throw new RenderError(`bad arguments:\n${issueLines(checked.issues)}`);
      return bodies.render(body, isRecord(checked.value) ? checked.value : {});
    },
  };
}
