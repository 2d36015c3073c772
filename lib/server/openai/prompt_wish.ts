import { maybeJsonObject } from "../../core/json.ts";
import type { JsonObject } from "../../core/json.ts";
import type { CatalogJson } from "../../service/look/look.ts";
import { HttpProblem } from "../problem.ts";
import type { ChatBody } from "./chat_body.ts";
import { onlyText } from "./only_text.ts";

/** What a prompt or a tactic is run with: the message is a JSON object of its variables, its only variable, or what is said to it. */
export function promptWish(
  path: string,
  body: ChatBody,
  { prompts }: CatalogJson,
): { readonly input?: JsonObject; readonly say?: string } {
  const text = onlyText(body, { what: "A prompt" });
  const prompt = prompts.find((each) => each.path === path);
  const values = maybeJsonObject(text);
  if (values !== undefined) return { input: values };
  const names = prompt?.variables ?? [];
  const [only, ...others] = names;
  if (only === undefined) return text.trim() === "" ? {} : { say: text };
  if (others.length === 0) return { input: { [only]: text } };
  const example = JSON.stringify(Object.fromEntries(names.map((name) => [name, "…"])));
  throw new HttpProblem(400, "invalid_variables", {
    detail: `${path} has the variables ${
      names.join(", ")
    }: expected a JSON object of them as the message, such as ${example}`,
    more: { param: "messages[0].content" },
  });
}
