import assert from "node:assert/strict";
import { join } from "node:path";
import { loadCatalog, SourceError } from "../mod.ts";
import { type GadgetFolder, gadgetFolder } from "./_gadgets.ts";
import { mcpFolder, serverArgs } from "./_mcp.ts";
import { testProject } from "./_project.ts";

/** Works where these variables are set. */
async function withVariables(work: () => Promise<void>): Promise<void> {
  const variables = { TOKEN: "s3cret-value", EMPTY: "", PORT: "8080" };
  for (const [name, value] of Object.entries(variables)) Deno.env.set(name, value);
  try {
    await work();
  } finally {
    for (const name of Object.keys(variables)) Deno.env.delete(name);
  }
}

const problem = (folder: GadgetFolder, name: string) => folder.catalog.maybeFind(`${name}__*`)?.problem ?? "";

Deno.test(".mcp.json: both kinds of server, their variables replaced; defaults, empty ones, and text that only looks like one", async () => {
  let heard: string | null = "";
  await using http = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, (request) => {
    heard = request.headers.get("authorization");
    return new Response(null, { status: 503 });
  });
  await withVariables(async () => {
    Deno.env.set("PORT", `${http.addr.port}`);
    const texts = {
      KEY: "a ${TOKEN} b",
      PAIR: "${PORT}-${PORT}",
      DEFAULTS: "${EMPTY:-x}${NONE:-y z}${EMPTY}${TOKEN:-p}",
      ODD: "$PORT ${} ${1} ${a b} ${PORT",
    };
    await using folder = await mcpFolder({
      files: {
        type: "stdio",
        command: Deno.execPath(),
        args: [...serverArgs("${SCENARIO:-ok}"), "log", "$HOME ${x%y}"],
        env: texts,
      },
      web: {
        type: "http",
        url: "http://127.0.0.1:${PORT}/mcp",
        headers: { Authorization: "Bearer ${TOKEN}" },
      },
      off: { command: "rm", disabled: true },
    }, { trust: ["files", "web"] });
    const given = JSON.parse(String(await folder.call("files__env", {})));
    assert.deepEqual(Object.fromEntries(Object.keys(texts).map((name) => [name, given[name]])), {
      KEY: "a s3cret-value b",
      PAIR: `${http.addr.port}-${http.addr.port}`,
      DEFAULTS: "xy zs3cret-value",
      ODD: "$PORT ${} ${1} ${a b} ${PORT",
    });
    assert.equal(heard, "Bearer s3cret-value");
    assert.equal(problem(folder, "web"), 'MCP server "web": it answered HTTP 503');
    assert.deepEqual(folder.catalog.entries.filter(({ name }) => name.startsWith("off")), []);
  });
});

Deno.test(".mcp.json: a missing variable is an error of its server, with its place", async () => {
  const text =
    '{\n\t"mcpServers": {\n\t\t"a": {\n\t\t\t"command": "x",\n\t\t\t"env": { "K": "${MISSING}" }\n\t\t}\n\t}\n}\n';
  await using folder = await gadgetFolder({ files: { ".mcp.json": text }, trustProject: true, trust: ["a"] });
  assert.equal(
    problem(folder, "a"),
    '.mcp.json:5:18: MCP server "a": the variable MISSING is not set, or may not be read; set it, or write ${MISSING:-default}',
  );
});

Deno.test(".mcp.json: what is wrong with a server is told with its place, and with none of its values", async () => {
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
  await withVariables(async () => {
    const servers = Object.fromEntries(cases.map(([server], index) => [`a${index}`, server]));
    await using folder = await mcpFolder(servers, { trust: ["a1"] });
    for (const [index, [, expected]] of cases.entries()) {
      const [place = "", words] = problem(folder, `a${index}`).split(`MCP server "a${index}": `);
      assert.match(place, /^\.mcp\.json:1:\d+: $/);
      assert.equal(words, expected);
    }
  });
});

Deno.test(".mcp.json: what is no such file at all is an error with its place", async () => {
  const failure = async (text: string) => {
    const root = await Deno.makeTempDir({ prefix: "orrery-mcp-" });
    await Deno.writeTextFile(`${root}/.mcp.json`, text);
    const error = await loadCatalog({ root, trustProject: true }).then(
      () => undefined,
      (error: unknown) => error,
    );
    await Deno.remove(root, { recursive: true });
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
  await using folder = await gadgetFolder({ files: { ".mcp.json": "{}" }, trustProject: true });
  assert.ok(folder.catalog.entries.every(({ source }) => source.kind === "built-in"));
});

Deno.test("mcpServers of orrery.yaml: the place of a missing variable, and the earlier file wins", async () => {
  const yaml = "mcpServers:\n  web:\n    url: https://example.com/\n    headers:\n      X-Key: ${MISSING}\n" +
    "  mine: { command: b }\n";
  await using project = await testProject({ "orrery.yaml": yaml });
  const own = join(project.env.XDG_CONFIG_HOME ?? "", "orrery");
  await Deno.mkdir(own, { recursive: true });
  await Deno.writeTextFile(join(own, "config.yaml"), '{ "mcpServers": { "mine": { "command": "a" } } }');
  const { stdout, stderr } = await project.run(["list", "gadgets", "--json", "--trust-project"]);
  const rows: readonly { readonly name: string; readonly problem?: string }[] = JSON.parse(stdout);
  assert.match(
    rows.find(({ name }) => name === "web__*")?.problem ?? "",
    /^orrery\.yaml:5:14: MCP server "web": the variable MISSING is not set/,
  );
  assert.match(rows.find(({ name }) => name === "mine")?.problem ?? "", /not trusted: .*command: a[;)]/);
  assert.match(
    stderr,
    /orrery\.yaml: the MCP server "mine" is ignored: \S*config\.yaml has one of that name/,
  );
});
