// Answers of what is run for them: a profile, a document, a prompt or a tactic.
import { type Json, type JsonObject, maybeJsonObject } from "../../core/core.ts";
import { isInsideCall } from "../../render/shown_text.ts";
import type { CatalogJson } from "../../service/look/look.ts";
import type { Service } from "../../service/service.ts";
import { HttpProblem } from "../problem.ts";
import { answerOf, badField, type MadeAnswer, ToldText } from "./answer.ts";
import { chatMessages } from "./messages.ts";
import type { AskedModel } from "./model_names.ts";
import { type ChatBody, effortOf } from "./schemas.ts";

/** What is run for an answer. */
export interface RunModel extends AskedModel {
  readonly kind: "profile" | "document" | "prompt";
}

/** What can be looked up for it. */
export interface RunAnswerMeans {
  readonly service: Service;
  readonly catalog: CatalogJson;
}

/** Runs what is asked; its value is the answer. @throws {HttpProblem} and what `Service.start` throws */
export async function runAnswer(
  asked: RunModel,
  body: ChatBody,
  { service, catalog }: RunAnswerMeans,
): Promise<MadeAnswer> {
  const run = await service.start({ ...wishOf(asked, body, catalog), effort: effortOf(body) });
  const told = new ToldText();
  const isTold = isLive(asked, catalog);
  let step = "";
  return answerOf(run, {
    model: body.model,
    after: 0,
    headers: { "orrery-run": run.id },
    showsThoughts: true,
    tell(event) {
      if (!isTold || event.type !== "text-delta" || isInsideCall(event.step)) return "";
      ({ step } = event);
      return told.piece(step, event.text);
    },
    rest: ({ value = null, usage }) => Promise.resolve({ text: told.whole(step, valueText(value)), usage }),
    onLeave() {
      if (asked.kind === "profile") run.cancel("nobody waits for the answer any more");
    },
  });
}

function wishOf(asked: RunModel, body: ChatBody, catalog: CatalogJson): Parameters<Service["start"]>[0] {
  switch (asked.kind) {
    case "profile":
      return { kind: "ask", profile: asked.name, messages: chatMessages(body.messages) };
    case "document": {
      const prompt = onlyText(body, { what: "A document" });
      return { kind: "file", file: asked.name, ...(prompt.trim() !== "" && { prompt }) };
    }
    case "prompt":
      return { kind: "prompt", path: asked.name, ...promptWish(asked.name, body, catalog) };
  }
}

/** Whether what is said as it comes can only be the answer. */
function isLive(asked: RunModel, { profiles, prompts }: CatalogJson): boolean {
  switch (asked.kind) {
    case "profile":
      return profiles.some(({ name, systemPrompt }) => name === asked.name && systemPrompt === null);
    case "prompt":
      return prompts.some(({ path, answer, tools }) =>
        path === asked.name && answer === "text" && tools.length === 0
      );
    case "document":
      return false;
  }
}

/** Text as it is, everything else as JSON. */
function valueText(value: Json): string {
  return typeof value === "string" ? value : value === null ? "" : JSON.stringify(value);
}

/** What a prompt or a tactic is run with: the message is a JSON object of its variables, its only variable, or what is said to it. */
function promptWish(
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
  throw new HttpProblem(
    400,
    "invalid_variables",
    `${path} has the variables ${
      names.join(", ")
    }: expected a JSON object of them as the message, such as ${example}`,
    { more: { param: "messages[0].content" } },
  );
}

/**
 * The text of the only message.
 *
 * @param options.what takes it, for errors, with its article: `A document`
 * @throws {HttpProblem} 400 `history_not_supported` where there are others
 */
function onlyText(body: ChatBody, { what }: { readonly what: string }): string {
  const [message, ...others] = chatMessages(body.messages);
  if (message?.role !== "user" || others.length > 0) {
    throw new HttpProblem(
      400,
      "history_not_supported",
      `${what} takes one message of the user, and remembers nothing of others; found ${body.messages.length} messages: ` +
        `${body.messages.map(({ role }) => role).slice(0, 8).join(", ")}`,
      { more: { param: "messages" } },
    );
  }
  if (typeof message.content === "string") return message.content;
  throw badField("messages[0].content", `${what} takes text, and no images or files`, "unsupported_value");
}
