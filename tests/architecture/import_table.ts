// The rooms and what each may import: the one place where the direction of imports is written down.

/** A room: a folder under lib/, gadgets/, or one of the two doors. `"all"` may import every room. */
export const IMPORT_TABLE: Readonly<Record<string, readonly string[] | "all">> = {
  core: [],
  schema: ["core"],
  schedule: ["core"],
  render: ["core"],
  host: ["core"],
  policy: ["core"],
  journal: ["core"],
  durable: ["core", "conversation", "host", "journal", "service"],
  parse: ["core", "schema"],
  models: ["core", "parse"],
  prompt: ["core", "parse", "schema"],
  mcp: ["core", "schema"],
  retrieval: ["core", "parse"], // a collection's documents: Markdown and HTML are read there
  catalog: ["core", "parse", "prompt", "schema"],
  document: ["core", "parse"],
  conversation: ["core", "parse", "schema"],
  check: ["core", "parse", "catalog", "prompt", "document", "conversation"],
  sandbox: ["core", "parse", "host"],
  run: ["core", "parse", "document", "conversation", "prompt", "schedule", "schema", "check"],
  project: [
    "core",
    "parse",
    "check",
    "catalog",
    "host",
    "policy",
    "models",
    "mcp",
    "retrieval",
    "sandbox",
    "journal",
    "prompt",
    "run",
    "gadgets",
  ],
  gadgets: ["core", "parse", "schema"], // parse: a fetched page is read as a collection's document is
  service: [
    "core",
    "schema",
    "parse",
    "document",
    "conversation",
    "check",
    "catalog",
    "host",
    "policy",
    "models",
    "mcp",
    "retrieval",
    "sandbox",
    "schedule",
    "journal",
    "prompt",
    "run",
    "render",
    "project",
    "gadgets",
  ],
  browser: ["core", "render"], // what they import is served to the browser
  server: ["core", "schema", "render", "host", "service"],
  cli: "all",
  "mod.ts": "all",
  "main.ts": "all",
};

/** Node's modules without an effect: every room may import them. */
export const PURE_NODE_MODULES: ReadonlySet<string> = new Set([
  "node:async_hooks", // AsyncLocalStorage: what a piece of work belongs to, and nothing outside
  "node:path",
  "node:path/posix",
  "node:url",
  "node:util",
]);

/** Node's modules with an effect that a room other than lib/host may import. */
export const NODE_MODULE_PLACES: Readonly<Record<string, readonly string[]>> = {
  "node:sqlite": ["lib/journal/", "lib/retrieval/", "gadgets/sql/sql_query.ts"],
  "node:vm": ["lib/sandbox/gate/plain_module.ts"], // nothing else ends a computation that would take for ever
};

/** What alone says `Deno.` or imports any other module of Node: the machine's adaptors, and what runs inside the process of a gadget. */
export const EFFECT_PLACES: readonly string[] = ["lib/host/", "lib/sandbox/inside/"];

/** What a room may say besides: its modules run where there is nothing else. */
export const ROOM_GLOBALS: Readonly<Record<string, readonly string[]>> = {
  browser: ["fetch", "EventSource", "localStorage", "sessionStorage"],
};

/** What may load a module whose name is known at run time only: two rooms, and who takes another build of a package than Deno would. */
export const COMPUTED_IMPORT_PLACES: readonly string[] = [
  "lib/host/",
  "lib/sandbox/",
  "lib/parse/yaml/library.ts",
];

/** What besides the command line may import a part of a kind, past its row: what all kinds need of one, and the pages of the project. */
export const KIND_PART_PLACES: readonly string[] = [
  "lib/service/kinds/",
  "lib/service/start/", // a text of calls and a prompt are started without a file
  "lib/service/look/open_look.ts",
  "lib/cli/",
];

/** The rooms beneath the service: who stands on it comes to them through it alone. Types are only words. */
export const BENEATH: ReadonlySet<string> = new Set([
  "project",
  "journal",
  "run",
  "catalog",
  "models",
  "sandbox",
  "mcp",
  "retrieval",
]);

/** Who stands on the service. */
export const ON_SERVICE: ReadonlySet<string> = new Set(["cli", "server", "mod.ts"]);

/** What they take from beneath all the same. */
export const TAKEN_FROM_BENEATH: Readonly<Record<string, readonly string[]>> = {
  "lib/cli/main.ts": ["lib/sandbox/inside/inside.ts"], // the process of a gadget begins there, and opens no project
  "mod.ts": [
    // What is made of what a program hands over, in memory: a catalogue, a contract, a tactic, a model, a journal; and an error.
    "lib/catalog/catalog.ts",
    "lib/run/turn/answer_contract.ts",
    "lib/run/tactic/tactic.ts",
    "lib/journal/memory_journal.ts",
    "lib/run/agent/call_state.ts",
    // Engines, which a program gives all that they meet: they open nothing.
    "lib/run/calls/calls.ts",
    "lib/run/dialog/dialog.ts",
    "lib/run/agent/prompt_run.ts",
  ],
};

/** Packages of deno.json that only examples import: gadgets of users may have their schemas from them. */
export const EXAMPLE_PACKAGES: ReadonlySet<string> = new Set(["zod"]);

/** What may lie at the top, besides hidden files. */
export const TOP_LEVEL: ReadonlySet<string> = new Set([
  "deno.json",
  "deno.lock",
  "main.ts",
  "mod.ts",
  "lib",
  "gadgets",
  "tests",
  "examples",
  "README.md",
  "LICENSE",
]);
