// Paths that lead out of the project, in every parameter and every field that names one, over a real socket and with a real project behind it:
// nothing outside is shown, nothing is started, and no answer is a failure that nobody foresaw.
import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { testProject } from "./_project.ts";
import { type KnownRoute, routesOf, TYPES } from "./_routes.ts";
import { served as servedProject } from "./_served_project.ts";
import { codeOf, type RawAnswer, sendRaw, TOKEN } from "./_server.ts";

/** Stands in every file that nobody may see. */
const HIDDEN = "nobody-may-see-this";

/** With a mistake each, so that whoever checks them would tell of it. */
const MARKDOWN = `# Hidden\n\n@llm\n${HIDDEN}: x\n`;
const CALLS = `!!!GADGET_START:${HIDDEN}:x\n!!!ARG:expression\n1 + 1\n!!!GADGET_END\n`;

/** Names, as they are meant. `%` and what follows it is sent as it stands. */
const NAMES: readonly string[] = [
  "..",
  ".",
  "../hidden.md",
  "../hidden.calls",
  "../../../../../../../../etc/passwd",
  "sub/../../hidden.md",
  "plan.md/../../hidden.md",
  "./plan.md",
  "sub//x.md",
  "/etc/passwd",
  "//etc/passwd",
  "/etc/passwd.md",
  "\\etc\\passwd",
  "..\\hidden.md",
  "sub\\..\\..\\hidden.md",
  "C:/hidden.md",
  "C:hidden.md",
  "c:\\hidden.md",
  "file:///etc/passwd",
  "plan.md\0",
  "plan.md\0.calls",
  "\0",
  "link.md",
  "link.calls",
  "link.agent.yml",
  "links/hidden.md",
  "links/hidden.calls",
  "links",
  ".orrery/hidden.md",
  ".ORRERY/hidden.md",
  ".orrery/orrery.db-token",
  ".orrery/orrery.db",
  ".git/hidden.md",
  ".Git/hidden.md",
  "sub/.../hidden.md",
  "..;/hidden.md",
  "\uff0e\uff0e/hidden.md",
  "\u2024\u2024/hidden.md",
  "..\u2215hidden.md",
  "..\u2044hidden.md",
  "..\uff0fhidden.md",
  "\u202e..",
  "..\u200b/hidden.md",
  "plan.md\r\nSet-Cookie: a=b",
  "plan.md\nX-Made: 1",
  "~/hidden.md",
  "$HOME/hidden.md",
  "__proto__",
  "constructor",
  "toString",
  "hasOwnProperty",
  "x".repeat(5_000),
  "a/".repeat(2_000) + "hidden.md",
  "../".repeat(300) + "etc/passwd",
  "/dev/stdin",
  "/proc/self/environ",
];

/** The same as a client writes them who hopes that somebody decodes twice, or otherwise than others. */
const ENCODED: readonly string[] = [
  "%2e%2e%2fhidden.md",
  "%2e%2e/hidden.md",
  "..%2fhidden.md",
  "..%2Fhidden.md",
  "%2e%2e%5chidden.md",
  "..%5chidden.md",
  "%252e%252e%252fhidden.md",
  "..%252fhidden.md",
  "%2fetc%2fpasswd",
  "%2f%2fetc%2fpasswd",
  "%c0%ae%c0%ae/hidden.md",
  "%c0%ae%c0%ae%c0%afhidden.md",
  "%e0%80%ae%e0%80%ae/hidden.md",
  "%u002e%u002e/hidden.md",
  "%ff",
  "%",
  "%2",
  "%zz",
  "%ed%a0%80",
  "plan.md%00",
  "%00",
  "%0d%0aSet-Cookie:%20a=b",
  "%0aX-Made:%201",
  "plan.md%3f/../../hidden.md",
  "plan.md%23",
  "%2e",
  "sub/%2e%2e/%2e%2e/hidden.md",
  "links%2fhidden.md",
  "%2eorrery/hidden.md",
  ".orrery%2fhidden.md",
];

const PROJECT: Readonly<Record<string, string>> = {
  "plan.md": "# Plan\n\n@return\nblock: plan\n",
  "sub/x.md": "# X\n",
  "sum.calls": "!!!GADGET_START:Calculate:sum\n!!!ARG:expression\n1 + 1\n!!!GADGET_END\n",
  "prompts/one.prompt.md": "One.",
  "guide.agent.yml":
    'version: "0.1"\nstructure:\n  id: guide\n  action: { id: name?, message: { message: "Your name?", hold: true } }\n',
  "../hidden.md": MARKDOWN,
  "../hidden.calls": CALLS,
  "../hidden.agent.yml": `version: "0.1" # ${HIDDEN}\n`,
  ".orrery/hidden.md": MARKDOWN,
  ".git/hidden.md": MARKDOWN,
};

interface AskedWith {
  readonly body?: string;
  /** Default JSON. */
  readonly type?: string;
  readonly headers?: readonly string[];
}

interface Asking {
  /** Sends the request with the token, and looks at what every answer must be. */
  ask(
    method: string,
    target: string,
    options?: AskedWith,
  ): Promise<RawAnswer>;
  readonly routes: readonly KnownRoute[];
}

/** Serves the project; what ran, what was told and what lies in it is looked at when the work is done. */
async function served(work: (asking: Asking) => Promise<void>): Promise<void> {
  await using project = await testProject(PROJECT);
  const { folder } = project;
  const outside = dirname(folder);
  for (
    const [link, target] of [["link.md", "hidden.md"], ["link.calls", "hidden.calls"], [
      "link.agent.yml",
      "hidden.agent.yml",
    ], ["links", ""]] as const
  ) {
    await Deno.symlink(join(outside, target), join(folder, link));
  }
  await using server = await servedProject(project, ["--quiet"]);
  const before = await filesBelow(outside);
  const { port } = server;
  const ask: Asking["ask"] = async (
    method,
    target,
    { body, type = "application/json", headers = [] } = {},
  ) => {
    const head = [
      `${method} ${target} HTTP/1.1`,
      `Host: 127.0.0.1:${port}`,
      `Authorization: Bearer ${TOKEN}`,
      "Connection: close",
      ...headers,
      ...body === undefined
        ? []
        : [`Content-Type: ${type}`, `Content-Length: ${new TextEncoder().encode(body).length}`],
    ];
    const answer = await sendRaw(port, new TextEncoder().encode(`${head.join("\r\n")}\r\n\r\n${body ?? ""}`));
    const what = `${method} ${target.slice(0, 200)} ${(body ?? "").slice(0, 200)}: ${answer.status} ${
      answer.body.slice(0, 400)
    }`;
    assert.ok(!answer.body.includes(HIDDEN) && !answer.body.includes("root:x:"), `it was shown: ${what}`);
    assert.ok(!answer.body.includes(outside), `it tells where the project is: ${what}`);
    assert.ok(answer.status > 0 && answer.status !== 500, `${what}\n${server.told()}`);
    assert.deepEqual(
      [answer.headers.get("x-made"), answer.headers.get("set-cookie")],
      [undefined, undefined],
      what,
    );
    return answer;
  };
  await work({ ask, routes: await routesOf(server) });
  assert.equal(server.told(), "");
  assert.deepEqual((await server.json("/v1/runs")).body.runs, []);
  assert.deepEqual(await filesBelow(outside), before);
}

async function filesBelow(folder: string): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    const path = join(folder, name);
    if (isDirectory) found.push(...await filesBelow(path));
    else if (!/orrery\.db/.test(name)) found.push(path);
  }
  return found.sort();
}

/** As a request line can hold it. */
function inTarget(name: string): readonly string[] {
  const whole = encodeURIComponent(name);
  const parts = name.split("/").map(encodeURIComponent).join("/");
  // deno-fmt-ignore
  const plain = /^[\x21-\x7e]*$/.test(name) ? [name] : [];
  return [...new Set([whole, parts, ...plain])];
}

const TARGETS = [...new Set([...NAMES.flatMap(inTarget), ...ENCODED])];

Deno.test("no name in a path leads out of the project, at any route", async () => {
  await served(async ({ ask, routes }) => {
    for (const [turn, { method, path, accepts }] of routes.entries()) {
      for (const [at] of [...path.matchAll(/\{\w+\}/g)].entries()) {
        // Each one at every other place: routes of a kind share what reads them.
        for (const name of TARGETS.filter((_name, index) => (index + turn + at) % 2 === 0)) {
          let index = 0;
          const target = path.replaceAll(/\{\w+\}/g, () => index++ === at ? name : "x");
          const { status, headers, body } = await ask(
            method,
            target,
            method === "GET" ? {} : { body: accepts === "json" ? "{}" : "", type: TYPES[accepts] },
          );
          const isElsewhere = status < 400 && isAnotherRoute(routes, { method, target, path });
          assert.ok(
            status >= 400 || isElsewhere,
            `${method} ${target.slice(0, 200)}: ${status} ${body.slice(0, 300)}`,
          );
          if (headers.get("content-type") === "application/problem+json") assert.ok(codeOf(body));
        }
      }
    }
  });
});

/** Such as a form of the page at /documents/x?q=1, which is the list: what the name made of the path is a path of its own. */
function isAnotherRoute(
  routes: readonly KnownRoute[],
  { method, target, path }: { readonly method: string; readonly target: string; readonly path: string },
): boolean {
  const [found = ""] = target.split("?");
  return routes.some((route) =>
    route.method === method && route.path !== path && !route.path.includes("{") && route.path === found
  );
}

const GUESSES: readonly string[] = NAMES.filter((name) => name !== "");

/** The fields that name a file, a prompt or an agent. */
const FIELDS: readonly (readonly [target: string, body: (name: string) => unknown])[] = [
  ["/v1/runs", (file) => ({ file })],
  ["/v1/runs", (path) => ({ path })],
  ["/v1/runs", (name) => ({ file: "plan.md", blocks: [`${name}#x`] })],
  ["/v1/runs", (name) => ({ file: "plan.md", out: name })],
  ["/v1/conversations", (agent) => ({ agent })],
  ["/v1/conversations", (name) => ({ agent: "guide.agent.yml", module: `${name}.module.yml`, session: "s" })],
  [
    "/v1/conversations",
    (name) => ({ agent: "guide.agent.yml", module: `${name}/a.module.yml`, session: "s" }),
  ],
  ["/v1/check", (name) => ({ files: [name] })],
  ["/v1/check", (name) => ({ name, text: "x" })],
  [
    "/v1/chat/completions",
    (name) => ({ model: `orrery/document/${name}`, messages: [{ role: "user", content: "x" }] }),
  ],
  [
    "/v1/chat/completions",
    (name) => ({ model: `orrery/agent/${name}`, messages: [{ role: "user", content: "x" }] }),
  ],
  [
    "/v1/chat/completions",
    (name) => ({ model: `orrery/prompt/${name}`, messages: [{ role: "user", content: "x" }] }),
  ],
  ["/v1/chat/completions", (name) => ({ model: name, messages: [{ role: "user", content: "x" }] })],
];

Deno.test("no field leads out of the project, nor where it is nobody's to write; of a form neither", async () => {
  await served(async ({ ask }) => {
    for (const [target, bodyOf] of FIELDS) {
      for (const name of GUESSES) {
        const { status, body } = await ask("POST", target, { body: JSON.stringify(bodyOf(name)) });
        // A text is checked under any name of the project, and so is a folder that is one.
        const isHarmless = target === "/v1/check" && status === 200 && !body.includes("hidden.md:");
        assert.ok(
          status >= 400 || isHarmless,
          `${target} ${JSON.stringify(bodyOf(name)).slice(0, 200)}: ${status} ${body.slice(0, 300)}`,
        );
      }
    }
    for (const kind of ["file", "prompt", "tactic", "gadget", "agent"]) {
      for (const name of GUESSES) {
        const { status } = await ask("POST", "/start", {
          body: new URLSearchParams({ kind, name }).toString(),
          type: TYPES.form,
        });
        assert.ok(status >= 400, `${kind} ${JSON.stringify(name).slice(0, 100)}: ${status}`);
      }
    }
  });
});

/** In a session of MCP: what it says to this URI. */
async function resources(ask: Asking["ask"]): Promise<(uri: string) => Promise<string>> {
  const accept = "Accept: application/json, text/event-stream";
  const message = (method: string, params: unknown) =>
    JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  const hello = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "x", version: "1" } };
  const begun = await ask("POST", "/mcp", { body: message("initialize", hello), headers: [accept] });
  const session = begun.headers.get("mcp-session-id");
  assert.ok(session, begun.body);
  const headers = [accept, `Mcp-Session-Id: ${session}`, "Mcp-Protocol-Version: 2025-06-18"];
  return async (uri) =>
    (await ask("POST", "/mcp", { body: message("resources/read", { uri }), headers })).body;
}

Deno.test("no resource of MCP leads out of the project", async () => {
  await served(async ({ ask }) => {
    const read = await resources(ask);
    for (const kind of ["document", "agent", "run"]) {
      for (const name of [...GUESSES, ...ENCODED]) {
        assert.match(await read(`orrery://${kind}/${name}`), /"error"/, `${kind} ${name}`);
      }
    }
  });
});

Deno.test("the same ways lead to what is in the project", async () => {
  await served(async ({ ask }) => {
    for (
      const target of [
        "/documents/plan.md",
        "/documents/sub/x.md",
        "/documents/sub%2fx.md",
        "/calls/sum.calls",
        "/prompts/one",
        "/agents/guide.agent.yml",
        "/graphs/plan.md",
        "/gadgets/Calculate",
      ]
    ) {
      assert.equal((await ask("GET", target)).status, 200, target);
    }
    const read = await resources(ask);
    assert.match(await read("orrery://document/plan.md"), /block: plan/);
    const checked = await ask("POST", "/v1/check", {
      body: JSON.stringify({ files: ["plan.md", "sum.calls"] }),
    });
    assert.deepEqual([checked.status, checked.body], [200, '{"problems":[]}']);
  });
});
