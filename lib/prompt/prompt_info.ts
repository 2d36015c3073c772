import { contractText, shortHash } from "./contract_hash.ts";
import type { PromptParts } from "./prompt_parts.ts";
import type { PromptInfo } from "./prompt_type.ts";
import { toolName } from "./tool_list.ts";

/** What a prompt says of itself (prompts.md 6). @throws {PromptError} `define`, when its parser cannot say what it is */
export function promptInfo(parts: PromptParts): PromptInfo {
  const { path, template, metadata, tools, mcp, addons, parser, format } = parts;
  return Object.freeze({
    path,
    promptHash: shortHash(template),
    contractHash: shortHash(contractText(parts)),
    metadata,
    tools: Object.freeze(tools.map(toolName)),
    mcp: Object.freeze(mcp.map(({ label }) => label)),
    addons,
    hasParser: parser !== null,
    hasFormat: format !== null,
  });
}
