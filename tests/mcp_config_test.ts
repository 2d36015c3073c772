import fc from "fast-check";
import assert from "node:assert/strict";
import { join } from "node:path";
import { SourceError } from "../mod.ts";
import { jsonPlace } from "../lib/catalog/json_places.ts";
import { readMcpJson, yamlServers } from "../lib/catalog/mcp/config.ts";
import { expandVariables, mcpServers } from "../lib/catalog/mcp/servers.ts";
import type { BrokenMcpServer, McpServer } from "../lib/core/mcp_server.ts";
import { hostFiles } from "../lib/host/files/files.ts";
import { writeFiles } from "./_world.ts";

async function inFolder(
  files: Readonly<Record<string, string>>,
  work: (root: string) => Promise<void>,
): Promise<void> {
  const root = await Deno.realPath(await Deno.makeTempDir({ prefix: "orrery-mcp-" }));
  try {
    await writeFiles(root, files);
    await work(root);
  } finally {
    await Deno.remove(root, { recursive: true });
  }
}

const VARIABLES: Readonly<Record<string, string>> = { TOKEN: "s3cret-value", EMPTY: "", PORT: "8080" };
const variable = (name: string) => VARIABLES[name];

async function serversOf(text: string): Promise<readonly (McpServer | BrokenMcpServer)[]> {
  let servers: readonly (McpServer | BrokenMcpServer)[] = [];
  await inFolder({ ".mcp.json": text }, async (root) => {
    const file = await readMcpJson(root, { disk: hostFiles({ root }), cwd: root });
    servers = file === undefined ? [] : await mcpServers([file], { variable, notice: () => {} });
  });
  return servers;
}

const problemOf = async (text: string) => {
  const [server] = await serversOf(text);
  return server !== undefined && "problem" in server ? server.problem : JSON.stringify(server);
};

Deno.test(".mcp.json: both kinds of server, variables replaced, what is written kept", async () => {
  const servers = await serversOf(JSON.stringify({
    inputs: [],
    mcpServers: {
      files: {
        type: "stdio",
        command: "npx",
        args: ["-y", "${PKG:-files}", "$HOME ${x%y}"],
        env: { KEY: "a ${TOKEN} b" },
      },
      web: {
        type: "http",
        url: "http://127.0.0.1:${PORT}/mcp",
        headers: { Authorization: "Bearer ${TOKEN}" },
      },
      off: { command: "rm", disabled: true },
    },
  }));
  assert.deepEqual(servers, [
    {
      name: "files",
      part: "files",
      file: ".mcp.json",
      written: {
        kind: "stdio",
        command: "npx",
        args: ["-y", "${PKG:-files}", "$HOME ${x%y}"],
        env: { KEY: "a ${TOKEN} b" },
      },
      endpoint: {
        kind: "stdio",
        command: "npx",
        args: ["-y", "files", "$HOME ${x%y}"],
        env: { KEY: "a s3cret-value b" },
      },
      variables: ["PKG", "TOKEN"],
    },
    {
      name: "web",
      part: "web",
      file: ".mcp.json",
      written: {
        kind: "http",
        url: "http://127.0.0.1:${PORT}/mcp",
        headers: { Authorization: "Bearer ${TOKEN}" },
      },
      endpoint: {
        kind: "http",
        url: "http://127.0.0.1:8080/mcp",
        headers: { Authorization: "Bearer s3cret-value" },
      },
      variables: ["PORT", "TOKEN"],
    },
  ]);
});

Deno.test(".mcp.json: a missing variable is an error of its server, with its place", async () => {
  const text =
    '{\n\t"mcpServers": {\n\t\t"a": {\n\t\t\t"command": "x",\n\t\t\t"env": { "K": "${MISSING}" }\n\t\t}\n\t}\n}\n';
  assert.equal(
    await problemOf(text),
    '.mcp.json:5:18: MCP server "a": the variable MISSING is not set, or may not be read; set it, or write ${MISSING:-default}',
  );
});

Deno.test(".mcp.json: what is wrong with a server is told with its place, and with none of its values", async () => {
  const one = (server: unknown) => problemOf(JSON.stringify({ mcpServers: { a: server } }));
  const cases: readonly (readonly [unknown, string])[] = [
    ["npx x", "expected an object with command or url"],
    [{}, "found neither command and url, expected one of them"],
    [{ command: "a", url: "b" }, "found both command and url, expected one of them"],
    [{ command: ["a"] }, "command: expected text: the program alone, its arguments in args"],
    [{ command: "" }, "command: expected text: the program alone, its arguments in args"],
    [{ command: "a", args: "b" }, "args: expected a list of texts"],
    [{ command: "a", env: { K: 17_171_717 } }, "env.K: expected text"],
    [{ command: "a", env: ["K=V"] }, "env: expected names and text"],
    [{ url: "x", headers: { a: null } }, "headers.a: expected text"],
    [
      { type: "sse", url: "http://x" },
      'type: found the type "sse", expected "http": the older transport is not supported',
    ],
    [{ type: "ws", url: "http://x" }, 'type: found an unknown type, expected "stdio" or "http"'],
    [{ command: "${EMPTY}" }, "found an empty command, expected a program"],
    [
      { url: "ftp://x/${TOKEN}" },
      'found the url "ftp://x/${TOKEN}", expected a whole one such as "https://example.com/mcp"',
    ],
    [
      { url: "https://me:${TOKEN}@x/" },
      'found a url with a name or a password in it, expected them in the header "Authorization"',
    ],
  ];
  for (const [server, expected] of cases) {
    const problem = await one(server);
    assert.match(problem, /^\.mcp\.json:1:\d+: MCP server "a": /);
    assert.equal(problem.replace(/^.*?MCP server "a": /, ""), expected);
  }
});

Deno.test(".mcp.json: what is no such file at all is an error with its place", async () => {
  const failure = async (text: string) => {
    const error = await serversOf(text).then(() => undefined, (error: unknown) => error);
    assert.ok(error instanceof SourceError, text);
    return `${error.place}: ${error.message}`;
  };
  assert.equal(
    await failure('{\n  "mcpServers": {,}\n}'),
    ".mcp.json:2:18: Cannot read .mcp.json: it is not JSON",
  );
  assert.equal(await failure('{"mcpServers": {'), ".mcp.json:1:17: Cannot read .mcp.json: it is not JSON");
  const form = 'Cannot read .mcp.json: expected an object {"mcpServers": {NAME: {...}}}';
  assert.equal(await failure("[]"), `.mcp.json:1:1: ${form}`);
  assert.equal(await failure('{"mcpServers": [1]}'), `.mcp.json:1:16: ${form}`);
  assert.deepEqual(await serversOf("{}"), []);
});

Deno.test("mcpServers of orrery.yaml: the place of a missing variable, and the earlier file wins", async () => {
  const yaml = "mcpServers:\n  web:\n    url: https://example.com/\n    headers:\n      X-Key: ${MISSING}\n";
  await inFolder({ "orrery.yaml": yaml }, async (root) => {
    const files = { disk: hostFiles({ root }), cwd: root };
    const settings = { web: { url: "https://example.com/", headers: { "X-Key": "${MISSING}" } } };
    const own = yamlServers(join(root, "home", "config.yaml"), { mine: { command: "a" } }, files);
    const project = yamlServers(join(root, "orrery.yaml"), { ...settings, mine: { command: "b" } }, files);
    const notices: string[] = [];
    const servers = await mcpServers([own, project], { variable, notice: (text) => notices.push(text) });
    assert.deepEqual(servers.map(({ name, file }) => [name, file]), [["mine", "home/config.yaml"], [
      "web",
      "orrery.yaml",
    ]]);
    assert.match(
      JSON.stringify(servers[1]),
      /"orrery\.yaml:5:14: MCP server \\"web\\": the variable MISSING is not set/,
    );
    assert.deepEqual(notices, [
      'orrery.yaml: the MCP server "mine" is ignored: home/config.yaml has one of that name',
    ]);
  });
});

Deno.test("variables: defaults, empty ones, and text that only looks like one", () => {
  const of = (text: string) => expandVariables(text, variable);
  assert.deepEqual(of("${PORT}-${PORT}"), { text: "8080-8080", names: ["PORT", "PORT"], missing: [] });
  assert.equal(of("${EMPTY}").text, "");
  assert.equal(of("${EMPTY:-x}${NONE:-y z}${PORT:-p}").text, "xy z8080");
  assert.deepEqual(of("${NONE}").missing, ["NONE"]);
  assert.equal(of("$PORT ${} ${1} ${a b} ${PORT").text, "$PORT ${} ${1} ${a b} ${PORT");
  assert.equal(expandVariables("${A}", () => "${B}").text, "${B}");
});

Deno.test("variables: a text without ${ stays as it is", () => {
  fc.assert(fc.property(fc.string(), (text) => {
    fc.pre(!text.includes("${"));
    assert.equal(expandVariables(text, () => "x").text, text);
  }));
});

Deno.test("json places: the place of every value is that value", () => {
  const blanks = fc.constantFrom("", " ", "\n", "\t", "\r\n  ");
  fc.assert(fc.property(fc.jsonValue(), fc.option(blanks, { nil: "" }), (value, blank) => {
    const text = blank + JSON.stringify(value, null, blank.includes("\t") ? "\t" : blank.length) + blank;
    const check = (inside: unknown, path: readonly (string | number)[]): void => {
      const place = jsonPlace(text, path);
      assert.ok(place, `${text} ${JSON.stringify(path)}`);
      assert.deepEqual(JSON.parse(text.slice(place.start, place.end)), JSON.parse(JSON.stringify(inside)));
      if (typeof inside !== "object" || inside === null) return;
      for (const [key, child] of Object.entries(inside)) {
        check(child, [...path, Array.isArray(inside) ? Number(key) : key]);
      }
    };
    check(JSON.parse(text), []);
    assert.equal(jsonPlace(text, ["nowhere at all", 7, "x"]), undefined);
  }));
});

Deno.test("json places: of two keys of one name the last one counts, as for JSON.parse", () => {
  const text = '{"a": {"b": 1}, "a": {"b": [2]}}';
  const place = jsonPlace(text, ["a", "b"]);
  assert.equal(text.slice(place?.start, place?.end), "[2]");
  assert.equal(jsonPlace('{"a": {"b": 1}, "a": 3}', ["a", "b"]), undefined);
});
