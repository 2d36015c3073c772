import assert from "node:assert/strict";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import {
  type AnyGadget,
  type Catalog,
  createCatalog,
  ProblemsError,
  systemClock,
  type World,
} from "../mod.ts";
import { loadCatalog } from "../lib/catalog/catalog.ts";
import type { LoadCatalogOptions } from "../lib/catalog/catalog_site.ts";
import { hostFiles } from "../lib/host/files/files.ts";
import { importModule } from "../lib/host/process.ts";

type Files = Readonly<Record<string, string>>;

/** Runs the test in a folder with these files. */
async function inProject(files: Files, test: (root: string) => Promise<void>): Promise<void> {
  const root = await Deno.realPath(await Deno.makeTempDir());
  try {
    for (const [path, text] of Object.entries(files)) {
      await Deno.mkdir(join(root, path, ".."), { recursive: true });
      await Deno.writeTextFile(join(root, path), text);
    }
    await test(root);
  } finally {
    await Deno.remove(root, { recursive: true });
  }
}

function worldAt(root: string): World {
  const refused = () => Promise.reject(new Error("the test world has none"));
  return {
    root,
    files: hostFiles({ root }),
    shell: { run: refused },
    http: { fetch: refused, open: refused },
    user: { canAnswer: false, ask: refused },
    clock: systemClock,
    policy: { permit: () => {} },
    wallTime: () => 0,
  };
}

/** What loading gave: the catalogue, the modules that were imported, and the notices. */
interface Loaded {
  readonly catalog: Catalog;
  readonly imported: readonly string[];
  readonly notices: readonly string[];
}

const BUILT_INS = { Echo: () => Promise.resolve((): AnyGadget => gadget("Echo")) };

async function load(root: string, options: Partial<LoadCatalogOptions> = {}): Promise<Loaded> {
  const imported: string[] = [];
  const notices: string[] = [];
  const catalog = await loadCatalog({
    root,
    world: worldAt(root),
    builtIns: BUILT_INS,
    importModule: (path) => {
      imported.push(path.slice(root.length + 1));
      return importModule(pathToFileURL(path).href);
    },
    onNotice: (text) => void notices.push(text),
    ...options,
  });
  return { catalog, imported, notices };
}

async function problemsOf(work: Promise<unknown>): Promise<readonly string[]> {
  const outcome = await work.then(() => undefined, (error: unknown) => error);
  assert.ok(outcome instanceof ProblemsError, `gave ${outcome}`);
  return outcome.problems.map(({ place, message }) => place === "" ? message : `${place}: ${message}`);
}

const gadget = (name: string): AnyGadget => ({ name, description: `Is ${name}.`, run: () => name });

const moduleOf = (name: string) =>
  `export default { name: "${name}", description: "Tells the weather.", run() { return "${name}"; } };\n`;

const statesOf = ({ catalog }: Loaded) => catalog.entries.map(({ name, state }) => `${name} ${state}`);

const problemOf = ({ catalog }: Loaded, name: string) => catalog.maybeFind(name)?.problem;

Deno.test("catalogue: of gadgets at hand", () => {
  const catalog = createCatalog([gadget("A"), gadget("B")]);
  assert.deepEqual(catalog.entries.map(({ name, source, state }) => ({ name, source, state })), [
    { name: "A", source: { kind: "code" }, state: "ready" },
    { name: "B", source: { kind: "code" }, state: "ready" },
  ]);
  const found = catalog.maybeFind("B")?.load();
  assert.ok(found !== undefined && !(found instanceof Promise));
  assert.equal(found.name, "B");
  assert.equal(catalog.maybeFind("b"), undefined);
  assert.equal(catalog.maybeFind("__proto__"), undefined);
  assert.throws(
    () => createCatalog([gadget("A"), gadget("A")]),
    new TypeError('Two gadgets are named "A": a name stands for one'),
  );
  assert.throws(() => createCatalog([gadget("no good")]), TypeError);
});

Deno.test("catalogue: built-in gadgets load once, when they are asked for", async () => {
  await inProject({}, async (root) => {
    let loads = 0;
    const Slow = () => Promise.resolve((world: World) => (loads++, { name: "Slow", run: () => world.root }));
    const { catalog } = await load(root, { builtIns: { Slow } });
    const entry = catalog.maybeFind("Slow");
    assert.ok(entry);
    assert.deepEqual([entry.source, entry.state, loads], [{ kind: "built-in" }, "ready", 0]);
    const [first, second] = [entry.load(), entry.load()];
    assert.ok(first instanceof Promise);
    assert.equal(await first, await second);
    assert.equal(loads, 1);
    assert.equal(entry.load(), await first, "the second time it is there at once");
  });
});

Deno.test("catalogue: a module that is not trusted is listed and never loaded", async () => {
  const files = {
    "gadgets/fetch_page.ts": `Deno.writeTextFileSync(new URL("./harm", import.meta.url), ""); ${
      moduleOf("FetchPage")
    }`,
    "gadgets/sky.js": moduleOf("Forecast"),
    "gadgets/_shared.ts": "throw new Error('not a gadget');",
    "gadgets/types.d.ts": "export {};",
    "gadgets/notes.md": "no module",
    "gadgets/deeper/x.ts": moduleOf("X"),
    "extra.ts": moduleOf("Extra"),
  };
  await inProject(files, async (root) => {
    const loaded = await load(root, { files: ["extra.ts"] });
    assert.deepEqual(statesOf(loaded), [
      "Echo ready",
      "fetch_page not-trusted",
      "sky not-trusted",
      "extra not-trusted",
    ]);
    assert.deepEqual(loaded.imported, []);
    await assert.rejects(Deno.stat(join(root, "gadgets/harm")));
    const problem =
      'Gadget "fetch_page" is not trusted: gadgets/fetch_page.ts was not loaded; run with --trust FetchPage';
    assert.equal(problemOf(loaded, "fetch_page"), problem);
    assert.equal(problemOf(loaded, "FetchPage"), problem, "a call knows the real name, not the stem");
    assert.match(problemOf(loaded, "Forecast") ?? "", /^Gadget "sky" is not trusted/);
    assert.deepEqual(loaded.catalog.maybeFind("sky")?.source, { kind: "project", file: "gadgets/sky.js" });
    assert.deepEqual(loaded.catalog.maybeFind("extra")?.source, { kind: "file", file: "extra.ts" });
    assert.throws(() => loaded.catalog.maybeFind("sky")?.load(), /is not trusted/);
  });
});

Deno.test("catalogue: --trust names a gadget or its file, exactly", async () => {
  const files = {
    "gadgets/fetch_page.ts": moduleOf("FetchPage"),
    "gadgets/sky.js": moduleOf("Forecast"),
    "gadgets/other.ts": moduleOf("Other"),
  };
  await inProject(files, async (root) => {
    for (
      const name of [
        "FetchPage",
        "gadgets/fetch_page.ts",
        "./gadgets/fetch_page.ts",
        join(root, "gadgets/fetch_page.ts"),
      ]
    ) {
      const loaded = await load(root, { trust: [name] });
      assert.deepEqual(loaded.imported, ["gadgets/fetch_page.ts"], name);
      assert.equal(loaded.catalog.maybeFind("FetchPage")?.state, "ready", name);
      assert.equal(loaded.catalog.maybeFind("fetch_page"), undefined, "a ready gadget has its own name only");
    }
    for (const name of ["fetch_page", "FETCH-PAGE", "fetchpage", "fetch_page.ts"]) {
      assert.deepEqual(await problemsOf(load(root, { trust: [name] })), [
        `No gadget for --trust ${name}: the gadget files here are gadgets/fetch_page.ts, gadgets/other.ts, gadgets/sky.js.` +
        ' Did you mean "FetchPage"?',
      ]);
    }
    const byName = await load(root, { trust: ["Forecast"] });
    assert.deepEqual(byName.imported, ["gadgets/sky.js"]);
    assert.equal(
      await byName.catalog.maybeFind("Forecast")?.load(),
      byName.catalog.maybeFind("Forecast")?.load(),
    );
    assert.deepEqual(
      (await load(root, { trust: ["Echo", "echo"] })).imported,
      [],
      "a built-in gadget needs no trust",
    );
  });
});

Deno.test("catalogue: a misspelt or unclear trust is an error", async () => {
  const files = {
    "gadgets/weather.ts": moduleOf("Weather"),
    "more/weather.ts": moduleOf("Weather"),
    "orrery.yaml": "gadgets: { folders: [gadgets, more] }\n",
  };
  await inProject(files, async (root) => {
    assert.deepEqual(await problemsOf(load(root, { trust: ["Wether", "Weather"] })), [
      'No gadget for --trust Wether: the gadget files here are gadgets/weather.ts, more/weather.ts. Did you mean "Weather"?',
      "Cannot tell what --trust Weather means: it fits gadgets/weather.ts and more/weather.ts",
    ]);
    const loaded = await load(root, { trust: ["more/weather.ts"] });
    assert.deepEqual(loaded.imported, ["more/weather.ts"]);
    assert.equal(
      problemOf(loaded, "weather"),
      'Gadget "weather" is not trusted: gadgets/weather.ts was not loaded; run with --trust gadgets/weather.ts',
    );
  });
  await inProject({}, async (root) => {
    assert.deepEqual(await problemsOf(load(root, { trust: ["x"] })), [
      "No gadget for --trust x: there is no gadget file here.",
    ]);
  });
});

Deno.test("catalogue: a project's grants count only when the project was accepted", async () => {
  const files = {
    "gadgets/weather.ts": moduleOf("Weather"),
    "gadgets/mine.ts": moduleOf("Mine"),
    "orrery.yaml": "grants: { Weather: trusted, wether: trusted, github: trusted }\n",
  };
  await inProject(files, async (root) => {
    const absent = await load(root);
    assert.deepEqual(absent.imported, []);
    assert.deepEqual(absent.notices, [
      "orrery.yaml: grants count as absent, since you have not accepted this project; --trust-project accepts it",
    ]);
    const accepted = await load(root, { projectAccepted: true });
    assert.deepEqual(accepted.imported, ["gadgets/weather.ts"]);
    assert.deepEqual(accepted.notices, [
      'The grant of "wether" counts for nothing: no gadget file has that name. Did you mean "Weather"?',
    ]);
  });
});

Deno.test("catalogue: the user's own grants count in the project that they name", async () => {
  const files = {
    "gadgets/weather.ts": moduleOf("Weather"),
    "gadgets/rain.ts": moduleOf("Rain"),
    "gadgets/snow.ts": moduleOf("Snow"),
    "user/config.yaml":
      "grants: { ../Weather: trusted, ../gadgets/rain.ts: trusted, ../../elsewhere/Snow: trusted, Snow: trusted }\n",
  };
  await inProject(files, async (root) => {
    const { loadConfig } = await import("../lib/catalog/config/load.ts");
    const config = await loadConfig(root, hostFiles({ root }), { userFolder: join(root, "user") });
    const loaded = await load(root, { config });
    assert.deepEqual(loaded.imported.toSorted(), ["gadgets/rain.ts", "gadgets/weather.ts"]);
    assert.deepEqual(config.notices, [
      'user/config.yaml:1:92: grants of "Snow" counts for nothing, since any project may have a gadget of that name; ' +
      `for the one of this project write ${JSON.stringify(join(root, "Snow"))}, or the path of its file.`,
    ]);
  });
});

Deno.test("catalogue: two gadgets of one name are an error that names both files", async () => {
  const files = {
    "gadgets/a.ts": moduleOf("Weather"),
    "gadgets/b.ts": moduleOf("Weather"),
    "gadgets/echo.ts": moduleOf("Echo"),
    "gadgets/calculate.ts": moduleOf("Calculate"),
  };
  await inProject(files, async (root) => {
    assert.deepEqual(
      await problemsOf(load(root, { trust: ["gadgets/a.ts", "gadgets/b.ts", "gadgets/echo.ts"] })),
      [
        'Two gadgets are named "Weather": gadgets/a.ts and gadgets/b.ts',
        'Two gadgets are named "Echo": the built-in Echo and gadgets/echo.ts',
      ],
    );
    const loaded = await load(root, { trust: ["gadgets/a.ts"] });
    assert.equal(loaded.catalog.maybeFind("Weather")?.state, "ready");
    assert.equal(loaded.catalog.maybeFind("Echo")?.source.kind, "built-in", "a stem is no name: no clash");
  });
});

Deno.test("catalogue: a module that cannot be used is broken, and nothing else is", async () => {
  const files = {
    "gadgets/good.ts": moduleOf("Good"),
    "gadgets/throws.ts": "const x = 1;\n\n  throw new Error(`no key for ${x}`);\nexport default {};\n",
    "gadgets/throws_text.ts": "throw 'just text';\n",
    "gadgets/syntax.ts": "export default {\n  name: 'Syntax' run() {}\n};\n",
    "gadgets/missing_import.ts":
      `import { x } from "./nowhere.ts";\nexport default { name: "M", run: () => x };\n`,
    "gadgets/imports_bad.ts": `import "./_bad.ts";\nexport default { name: "I" };\n`,
    "gadgets/_bad.ts": "\nthrow new Error('inner');\n",
    "gadgets/no_default.ts": "export const gadget = {};\n",
    "gadgets/no_name.ts": "export default { description: 'x', run() {} };\n",
    "gadgets/wrong_field.ts": "export default { name: 'WrongField', descriptoin: 'x', run: 1 };\n",
    "gadgets/a_function.ts": "export default function () {}\n",
    "gadgets/blank.ts": "export default { name: 'Blank', run() {} };\n",
  };
  await inProject(files, async (root) => {
    const trust = Object.keys(files).filter((file) => !file.includes("/_"));
    const loaded = await load(root, { trust });
    assert.equal(loaded.catalog.maybeFind("Good")?.state, "ready");
    assert.equal(problemOf(loaded, "throws"), "Cannot load gadgets/throws.ts:3:9: no key for 1");
    assert.equal(problemOf(loaded, "Throws"), problemOf(loaded, "throws"));
    assert.equal(problemOf(loaded, "throws_text"), "Cannot load gadgets/throws_text.ts: just text");
    assert.match(
      problemOf(loaded, "syntax") ?? "",
      /^Cannot load gadgets\/syntax\.ts:2:\d+: .*Expected ','/,
    );
    assert.match(
      problemOf(loaded, "missing_import") ?? "",
      /^Cannot load gadgets\/missing_import\.ts.*: Module not found "gadgets\/nowhere\.ts"/,
    );
    assert.equal(problemOf(loaded, "imports_bad"), "Cannot load gadgets/_bad.ts:2:7: inner");
    assert.equal(
      problemOf(loaded, "no_default"),
      'Cannot use gadgets/no_default.ts: it has no default export, expected "export default { name: …, run(input) { … } }"; the name of a file that only helps others begins with _',
    );
    assert.match(problemOf(loaded, "no_name") ?? "", /^gadgets\/no_name\.ts: name: missing/);
    assert.match(
      problemOf(loaded, "WrongField") ?? "",
      /^gadgets\/wrong_field\.ts: .*descriptoin.*description/,
    );
    assert.match(problemOf(loaded, "a_function") ?? "", /^gadgets\/a_function\.ts: found a function/);
    assert.deepEqual(loaded.notices, [
      'gadgets/blank.ts: gadget "Blank" has no description: a model cannot tell what it is for',
    ]);
    for (const entry of loaded.catalog.entries.filter(({ state }) => state === "broken")) {
      assert.throws(() => entry.load(), new Error(entry.problem));
      assert.doesNotMatch(entry.problem ?? "", /\n {2,}|file:\/\//, entry.name);
    }
  });
});

Deno.test("catalogue: folders and files that are not there", async () => {
  const files = {
    "orrery.yaml": "gadgets:\n  folders: [gadgets, tools]\n",
    "gadgets/a.ts": moduleOf("A"),
    "x.txt": "",
    "folder/y": "",
  };
  await inProject(files, async (root) => {
    assert.deepEqual(await problemsOf(load(root, { files: ["b.ts", "x.txt", "folder"] })), [
      'orrery.yaml:2:22: Cannot list "tools": no such folder',
      "Cannot use --gadget b.ts: no such file",
      "Cannot use --gadget x.txt: its name does not end with .ts or .js",
      "Cannot use --gadget folder: it is a folder",
    ]);
  });
  await inProject({ "orrery.yaml": "gadgtes: 1\n" }, async (root) => {
    assert.deepEqual(await problemsOf(load(root)), [
      'orrery.yaml:1:1: Unknown key "gadgtes". Did you mean "gadgets"?',
    ]);
  });
});

Deno.test("catalogue: nothing of a project is called like a built-in gadget, in any spelling", async () => {
  const files = { "gadgets/a.ts": moduleOf("e_cho"), "gadgets/Echo.ts": moduleOf("Other") };
  await inProject(files, async (root) => {
    const config = await (await import("../lib/catalog/config/load.ts")).loadConfig(
      root,
      hostFiles({ root }),
    );
    const granted = { config: { ...config, grants: { Echo: "trusted" as const } } };
    assert.deepEqual((await load(root, granted)).imported, [], "nor does its file");
    assert.deepEqual((await load(root, { trust: ["Echo", "ECHO"] })).imported, []);
    assert.deepEqual(await problemsOf(load(root, { trust: ["gadgets/a.ts"] })), [
      'The gadget "e_cho" (gadgets/a.ts) is called like the built-in Echo',
    ]);
    assert.deepEqual(await problemsOf(load(root, { serverNames: ["e.cho", "x"] })), [
      'The MCP server "e.cho" is called like the built-in Echo',
    ]);
    assert.deepEqual(await problemsOf(load(root, { allowed: ["echo", "Othe"] })), [
      "--allow-gadget echo: that is built in, or an MCP server, and no gadget of a module",
      'No gadget for --allow-gadget Othe: the gadget files here are gadgets/Echo.ts, gadgets/a.ts. Did you mean "Other"?',
    ]);
  });
});

Deno.test("catalogue: the name of a server means no gadget", async () => {
  await inProject({ "gadgets/moons.ts": moduleOf("my_moons") }, async (root) => {
    const options = { serverNames: ["moons", "my.moons"] };
    assert.deepEqual((await load(root, { ...options, trust: ["moons", "my_moons"] })).imported, []);
    assert.deepEqual((await load(root, { ...options, trust: ["gadgets/moons.ts"] })).imported, [
      "gadgets/moons.ts",
    ]);
  });
});

Deno.test("catalogue: a file named twice is there once, and paths are as seen from the working folder", async () => {
  await inProject({ "gadgets/a b%41.ts": moduleOf("A"), "sub/own.ts": moduleOf("Own") }, async (root) => {
    const cwd = join(root, "sub");
    const loaded = await load(root, {
      files: ["../gadgets/a b%41.ts", "own.ts"],
      cwd,
      trust: ["own.ts", "../gadgets/a b%41.ts"],
    });
    assert.deepEqual(
      loaded.catalog.entries.map(({ name, source }) => [name, "file" in source ? source.file : source.kind]),
      [
        ["Echo", "built-in"],
        ["A", "../gadgets/a b%41.ts"],
        ["Own", "own.ts"],
      ],
    );
    const byUrl = await load(root, { root: pathToFileURL(root) });
    assert.deepEqual(byUrl.catalog.entries.map(({ name }) => name), ["Echo", "a b%41"]);
  });
});
