import type { ToolChoice } from "./operation_fields.ts";
import { notText, type Part } from "./part.ts";

/** The tool that every model may be offered: it runs another document (documents.md 8.5). */
export const CALLEE_TOOL = "fractalic_run";

/** `none`, `all`, a name, names between commas, or a list of names. */
export function readToolChoice(value: unknown): Part<ToolChoice> {
  const written: readonly unknown[] = Array.isArray(value)
    ? value
    : typeof value === "string"
    ? value.split(",")
    : [value];
  const names = new Set<string>();
  for (const item of written) {
    if (typeof item !== "string") return { problem: notText("tools", item) };
    if (item.trim() !== "") names.add(item.trim());
  }
  const [first] = names;
  if (first === undefined) return written.length === 0 ? { value: "none" } : { problem: "tools is empty" };
  if (names.size === 1 && (first === "none" || first === "all")) return { value: first };
  const word = ["none", "all"].find((word) => names.has(word));
  return word === undefined
    ? { value: [...names] }
    : { problem: `tools: "${word}" cannot stand beside other names` };
}
