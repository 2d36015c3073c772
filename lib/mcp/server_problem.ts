import { MCPClientError } from "@ai-sdk/mcp";
import type { McpServer } from "../core/mcp_server.ts";
import { PermissionRefused } from "../core/world.ts";
import { messageOf } from "../core/source_error.ts";
import type { HttpFacts } from "./http_fetch.ts";

/** What is known of a server that failed. */
export interface ServerFacts {
  readonly server: McpServer;
  /** Of a server on stdio that has ended. */
  readonly exitCode?: number;
  readonly facts: HttpFacts;
  /** What it said last, besides the protocol. */
  readonly lastLines: readonly string[];
}

/** Why a server could not be used, in words: `MCP server "x": …`. */
export function serverProblem(error: unknown, known: ServerFacts): string {
  const reason = reasonOf(error, known);
  const said = known.lastLines.length === 0 || known.server.endpoint.kind === "http"
    ? ""
    : `; its last lines: ${known.lastLines.map((line) => JSON.stringify(line)).join(", ")}`;
  return `MCP server ${JSON.stringify(known.server.name)}: ${reason}${isOfProgram(error, known) ? said : ""}`;
}

/** Whether it ended, does not answer, or not as MCP has it: any other error is its word, and one that was never let through to it is ours. */
export function isGone(error: unknown, { exitCode }: Pick<ServerFacts, "exitCode">): boolean {
  if (exitCode !== undefined) return true;
  const code = codeOf(error);
  return code === undefined ? !(error instanceof PermissionRefused) : code === INTERNAL_ERROR;
}

/** Of JSON-RPC, for an answer that is none too. */
const INTERNAL_ERROR = -32603;

/** An answer of the server explains itself; what it wrote on stderr explains an end, and silence. */
function isOfProgram(error: unknown, { exitCode }: ServerFacts): boolean {
  return exitCode !== undefined || codeOf(error) === undefined;
}

function reasonOf(error: unknown, { exitCode, facts, server }: ServerFacts): string {
  if (exitCode !== undefined) return `it ended with exit code ${exitCode}`;
  const code = codeOf(error);
  if (code !== undefined) return `it answered with error ${code}: ${messageOf(error)}`;
  const status = statusOf(error);
  if (status !== undefined && status >= 400) {
    return `it answered HTTP ${status}${statusHint(status)}${bodyWords(error)}`;
  }
  const isHttp = server.endpoint.kind === "http";
  const isUnreadable = isHttp && facts.status === 200 && !(error instanceof PermissionRefused);
  if (isUnreadable && !/^(application\/json|text\/event-stream)$/.test(facts.contentType ?? "")) {
    const found = facts.contentType === "" ? "no content type" : facts.contentType;
    return `it is no MCP server: it answered HTTP 200 with ${found}, expected application/json or text/event-stream`;
  }
  const problem = schemaProblem(error);
  return problem === undefined
    ? withoutPrefix(messageOf(error))
    : `its answer is not as MCP has it: ${problem}`;
}

function codeOf(error: unknown): number | undefined {
  return MCPClientError.isInstance(error) ? error.code : undefined;
}

function statusOf(error: unknown): number | undefined {
  return MCPClientError.isInstance(error) ? error.statusCode : undefined;
}

function statusHint(status: number): string {
  if (status === 401) return " (it wants to know who asks): check its headers";
  if (status === 403) return " (it does not allow this): check its headers";
  return status === 404 ? " (nothing is there): check its url" : "";
}

const MAX_BODY = 200;

function bodyWords(error: unknown): string {
  const body = MCPClientError.isInstance(error) ? error.responseBody ?? "" : "";
  if (body.trim() === "" || /^\s*</.test(body)) return ""; // a page says nothing in a line
  return `; it said ${JSON.stringify(body.trim().replaceAll(/\s+/g, " ").slice(0, MAX_BODY))}`;
}

/** The place in an answer that does not fit the protocol, when the library tells: `tools/3/inputSchema: expected object`. */
function schemaProblem(error: unknown): string | undefined {
  const source = error instanceof Error && hasIssues(error.cause) ? error.cause : error;
  if (!hasIssues(source)) return undefined;
  const [issue] = source.issues;
  if (typeof issue !== "object" || issue === null || !("message" in issue)) return undefined;
  const path: readonly unknown[] = "path" in issue && Array.isArray(issue.path) ? issue.path : [];
  return `${path.length === 0 ? "" : `${path.map(String).join("/")}: `}${String(issue.message)}`;
}

function hasIssues(value: unknown): value is { readonly issues: readonly unknown[] } {
  return typeof value === "object" && value !== null && "issues" in value && Array.isArray(value.issues);
}

function withoutPrefix(message: string): string {
  return message.replace(/^MCP HTTP Transport Error: /, "");
}
