import type { CallToolResult } from "@ai-sdk/mcp";
import { type Json, toJson } from "../core/json.ts";

/** A whole page of an error is of no use to anybody. */
const MAX_ERROR_LENGTH = 20_000;

/**
 * What a tool answered, as the result of its gadget: structured content as it is; else text alone as one text, a line between its
 * parts; else every part of the content as JSON, images and resources with their data.
 *
 * @throws {Error} with the tool's own text, when it says that it failed
 */
export function toolResult(result: CallToolResult): Json {
  const content = contentOf(result);
  if ("isError" in result && result.isError === true) throw new Error(errorText(content));
  const structured = "structuredContent" in result ? result.structuredContent : undefined;
  const other = content.filter((part) => textOf(part) === undefined);
  if (structured !== undefined && structured !== null) {
    // Its text says the same once more (MCP, tools, structured content); anything else does not.
    return toJson(other.length === 0 ? structured : { structuredContent: structured, content: other });
  }
  if ("toolResult" in result) return toJson(result.toolResult); // as servers of 2024 answer
  return other.length === 0 ? joined(content) : toJson(content);
}

function contentOf(result: CallToolResult): readonly unknown[] {
  return "content" in result && Array.isArray(result.content) ? result.content : [];
}

function joined(content: readonly unknown[]): string {
  return content.map((part) => textOf(part) ?? "").join("\n");
}

function textOf(part: unknown): string | undefined {
  const isText = typeof part === "object" && part !== null && "type" in part && part.type === "text";
  return isText && "text" in part && typeof part.text === "string" ? part.text : undefined;
}

function errorText(content: readonly unknown[]): string {
  const text = content.map((part) => textOf(part) ?? JSON.stringify(part)).join("\n").trim();
  if (text === "") return "The tool failed and did not say why";
  return text.length <= MAX_ERROR_LENGTH
    ? text
    : `${text.slice(0, MAX_ERROR_LENGTH)} … (${text.length - MAX_ERROR_LENGTH} more characters)`;
}
