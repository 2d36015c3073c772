import { isRecord } from "../core/json.ts";
import { type FieldProblem, problemAt, type Refusal } from "./field_problem.ts";

/** How a prompt is asked for what it has against its servers. */
interface McpAsked {
  readonly key: string;
  readonly refusal: Refusal;
}

/** Everything that is wrong with the MCP servers of a prompt: each is asked about alone, key by key. */
export function mcpProblems(servers: readonly unknown[], asked: McpAsked): readonly FieldProblem[] {
  const labels = new Set<string>();
  return servers.flatMap((server, index) => {
    const label = isRecord(server) && typeof server.label === "string" ? server.label : "";
    const named = label === ""
      ? unnamed(server, index, asked)
      : labels.has(label)
      ? twice(label, index, asked)
      : [];
    labels.add(label);
    return [...named, ...(isRecord(server) ? serverProblems(server, index, asked) : [])];
  });
}

function unnamed(server: unknown, index: number, { key, refusal }: McpAsked): readonly FieldProblem[] {
  const start = `prompt "${key}": mcp[`;
  const message = refusal({ mcp: [server] });
  return problemAt(["mcp", index], message?.replace(`${start}0]`, () => `${start}${index}]`));
}

function twice(label: string, index: number, { refusal }: McpAsked): readonly FieldProblem[] {
  return problemAt(["mcp", index], refusal({ mcp: [{ label, url: "x" }, { label, url: "x" }] }));
}

/** What each key needs beside it to be a server. */
const BESIDE: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  label: { url: "x" },
  url: {},
  command: {},
  args: { command: "x" },
};

function serverProblems(
  server: Readonly<Record<string, unknown>>,
  index: number,
  { key, refusal }: McpAsked,
): readonly FieldProblem[] {
  const start = `prompt "${key}": mcp `;
  // Without a label of its own it is called by its place.
  const label = typeof server.label === "string" && server.label !== "" ? server.label : `[${index}]`;
  const others = Object.entries(server).filter(([name, value]) => name !== "label" && value !== undefined);
  const wrong = others.flatMap(([name, value]) =>
    problemAt(
      ["mcp", index, name],
      refusal({ mcp: [{ label, [name]: value, ...(BESIDE[name] ?? { url: "x" }) }] }),
    )
  );
  const isWrong = new Set(wrong.map(({ path }) => path[2]));
  const fine = others.filter(([name]) => !isWrong.has(name));
  // What is not given may be what a wrong key was meant to be.
  const isMisspelt = wrong.some(({ path: [, , name], message }) =>
    BESIDE[String(name)] !== undefined || /Did you mean .*"(?:url|command)"/.test(message)
  );
  const whole = isMisspelt ? undefined : refusal({ mcp: [{ label, ...Object.fromEntries(fine) }] });
  return [...problemAt(["mcp", index], whole), ...wrong].map(({ path, message }) => ({
    path,
    message: label === server.label
      ? message
      : message.replace(`${start}${JSON.stringify(label)}`, () => `prompt "${key}": mcp${label}`),
  }));
}
