import type { McpServer } from "../core/mcp_server.ts";

/** Shorter values, such as `1` or `true`, cannot be told from ordinary text. */
const LEAST_LENGTH = 5;

/**
 * Takes the values of a server's environment and headers, and what variables put into its arguments, out of texts: a server may repeat
 * what it was given in its errors.
 */
export function redactor(server: McpServer): (text: string) => string {
  const secrets = [...givenValues(server), ...argumentValues(server)].filter(({ value }) =>
    value.length >= LEAST_LENGTH
  );
  const longestFirst = secrets.sort((a, b) => b.value.length - a.value.length);
  return (text) =>
    longestFirst.reduce((out, { name, value }) => out.replaceAll(value, `[value of ${name}]`), text);
}

interface Secret {
  readonly name: string;
  readonly value: string;
}

function givenValues({ endpoint }: McpServer): readonly Secret[] {
  const given = endpoint.kind === "stdio" ? endpoint.env : endpoint.headers;
  return Object.entries(given).flatMap(([name, value]) => {
    // `Bearer KEY` may come back as the key alone.
    const parts = value.split(/\s+/).filter((part) => !/^(?:bearer|basic|token)$/i.test(part));
    return [value, ...parts].map((part) => ({ name, value: part }));
  });
}

/** Of `--token=${TOKEN}` the value, not what stands in the file. */
function argumentValues({ written, endpoint }: McpServer): readonly Secret[] {
  if (written.kind !== "stdio" || endpoint.kind !== "stdio") return [];
  return endpoint.args.flatMap((argument, index) => {
    const template = written.args[index] ?? "";
    if (template === argument) return [];
    const parts = argument.split(/[\s=]+/).filter((part) => !template.includes(part));
    return [argument, ...parts].map((value) => ({ name: "an argument", value }));
  });
}
