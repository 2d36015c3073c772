import assert from "node:assert/strict";
import fc from "fast-check";
import {
  type AnyPrompt,
  defineGadget,
  definePrompt,
  PromptError,
  type PromptFolder,
  PromptRegistry,
} from "../mod.ts";
import { snapshot } from "./_prompt_cases.ts";
import { discoverIn, type PromptFiles } from "./_prompt_files.ts";
import cases from "./spec/prompts/discover.json" with { type: "json" };
import { tries } from "./_thorough.ts";

interface ModuleCase {
  readonly exports?: readonly ExportCase[];
  readonly raises?: string;
}

interface ExportCase {
  readonly name: string;
  readonly path?: string;
  readonly template?: string;
  readonly alias_of?: string;
  readonly extends?: string;
  readonly gadget?: { readonly name: string; readonly description: string };
}

interface DiscoverCase {
  readonly name: string;
  readonly input: {
    readonly files: Readonly<Record<string, string | ModuleCase | Readonly<Record<string, unknown>>>>;
    readonly folders?: readonly PromptFolder[];
    readonly lookups?: readonly string[];
    readonly detail?: boolean;
    readonly renderPrompt?: string;
    readonly args?: Readonly<Record<string, unknown>>;
  };
  readonly expected?: {
    readonly prompts?: Readonly<Record<string, unknown>>;
    readonly problems?: readonly {
      readonly file: string;
      readonly line?: number;
      readonly message: string;
    }[];
    readonly strictThrows?: boolean;
    readonly lookups?: Readonly<Record<string, unknown>>;
    readonly text?: string;
    readonly raw?: string;
    readonly format?: unknown;
    readonly metadata?: unknown;
    readonly promptHash?: string;
  };
  readonly error?: string;
}

/** What the module of a case exports. */
function exportsOf({ exports = [], raises }: ModuleCase): Readonly<Record<string, unknown>> {
  if (raises !== undefined) throw new Error(raises);
  const values: Record<string, unknown> = {};
  for (const { name, alias_of, extends: base, gadget, ...fields } of exports) {
    if (alias_of !== undefined) values[name] = values[alias_of];
    else if (gadget !== undefined) values[name] = defineGadget(gadget);
    else if (base !== undefined) values[name] = (values[base] as AnyPrompt).extend({ path: name, ...fields });
    else values[name] = definePrompt({ template: "", ...fields });
  }
  return values;
}

function isModule(value: unknown): value is ModuleCase {
  return typeof value === "object" && value !== null && ("exports" in value || "raises" in value);
}

function project(files: DiscoverCase["input"]["files"]): PromptFiles {
  const texts = Object.entries(files).flatMap(([path, value]) =>
    isModule(value) ? [] : [[path, typeof value === "string" ? value : JSON.stringify(value)] as const]
  );
  const modules = Object.entries(files).flatMap(([path, value]) =>
    isModule(value) ? [[path, () => Promise.resolve(value).then(exportsOf)] as const] : []
  );
  return { files: Object.fromEntries(texts), modules: Object.fromEntries(modules) };
}

for (const { name, input, expected, error } of cases as unknown as readonly DiscoverCase[]) {
  Deno.test(`discover: ${name}`, async () => {
    const files = project(input.files);
    const options = input.folders && { folders: input.folders };
    const { registry, problems } = await discoverIn(files, { ...options, strict: false });
    if (input.renderPrompt !== undefined) {
      const prompt: AnyPrompt = registry.get(registry.keys()[0] ?? "");
      const render = () => prompt(input.args ?? {});
      if (error !== undefined) {
        return assert.throws(render, new PromptError(error, { code: "render" }));
      }
      const { format, metadata } = prompt;
      const { promptHash } = prompt.info();
      assert.deepEqual({ text: render(), raw: prompt(), format, metadata, promptHash }, expected);
      return;
    }
    assert.ok(expected);
    const show = (prompt: AnyPrompt) => input.detail ? snapshot(prompt) : prompt.template;
    const found = Object.fromEntries(registry.keys().map((key) => [key, show(registry.get(key))]));
    assert.deepEqual(found, expected.prompts);
    for (const key of registry.keys()) assert.equal(registry.get(key).path, key);
    for (const [index, wanted] of (expected.problems ?? []).entries()) {
      const { file, line, message } = problems[index] ?? assert.fail(`not found: ${wanted.message}`);
      assert.equal(file, wanted.file);
      assert.ok(message.includes(wanted.message), `${message}\n${wanted.message}`);
      if (wanted.line !== undefined) assert.equal(line, wanted.line);
    }
    assert.equal(problems.length, expected.problems?.length, JSON.stringify(problems));
    const strict = await discoverIn(files, options).then(() => undefined, (thrown: unknown) => thrown);
    if (expected.strictThrows) {
      assert.ok(strict instanceof PromptError && strict.code === "discover", String(strict));
      assert.deepEqual(strict.problems, problems);
      assert.equal(
        strict.message,
        problems.map(({ file, line, message }) => `${file}:${line}: ${message}`).join("\n"),
      );
    } else assert.equal(strict, undefined);
    lookUp(registry, expected.lookups ?? {});
  });
}

function lookUp(registry: PromptRegistry, lookups: Readonly<Record<string, unknown>>): void {
  for (const [key, wanted] of Object.entries(lookups)) {
    if (typeof wanted === "string") assert.equal(registry.get(key).template, wanted);
    else assert.throws(() => registry.get(key), { message: (wanted as { error: string }).error });
  }
}

// What the cases leave open.

async function discovered(
  files: DiscoverCase["input"]["files"],
  options: { readonly folders?: readonly PromptFolder[]; readonly registry?: PromptRegistry } = {},
) {
  const { registry, problems } = await discoverIn(project(files), { ...options, strict: false });
  return { registry, lines: problems.map(({ file, line, message }) => `${file}:${line}: ${message}`) };
}

/** The problems of one `*.prompt.md` file, without its name. */
async function problemsOf(text: string, others: DiscoverCase["input"]["files"] = {}) {
  const { lines } = await discovered({ ...others, "prompts/a.prompt.md": text });
  return lines.map((line) => line.replace(/^prompts\/a\.prompt\.md:/, ""));
}

Deno.test("discover: each wrong value of a front matter is told in the line of its key", async () => {
  const text = [
    "---",
    "name: [x]",
    "description: 5",
    "tags: [answer]",
    "format: text",
    "tools: search",
    "mcp: { label: a }",
    "addons: webSearch",
    "handler: { onException: 5 }",
    "metadata: [1]",
    "extends: ''",
    "---",
    "x",
  ].join("\n");
  assert.deepEqual(await problemsOf(text), [
    "2: name must be text, found a list",
    "3: description must be text, found 5",
    "4: tags must be a mapping such as { requiredXmlTags: [answer] }, found a list",
    '5: format must be a JSON Schema or ./file.ts#Export, found "text"',
    '6: tools must be a list of names or ./file.ts#export, found "search"',
    "7: mcp must be a list, found a mapping",
    '8: addons must be a mapping, found "webSearch"',
    "9: handler must be a mapping of texts, found 5",
    "10: metadata must be a mapping, found a list",
    "11: extends must be the path of another prompt, found empty text",
  ]);
});

Deno.test("discover: what definePrompt refuses is told in the line of its key too", async () => {
  const front = (line: string) => `---\ndescription: d\n${line}\n---\nx`;
  for (
    const [line, message] of [
      ["tags: { xmlTags: [a b] }", '3: tags: bad tag name "a b" in xmlTags'],
      ["tags: { xml: [a] }", '3: tags: unknown key "xml"'],
      ["tools: [a, a]", '3: prompt "a": duplicate tool "a"'],
      [
        "mcp: [{ url: u }]",
        '3: prompt "a": mcp[0]: label must be a string that is not empty, found undefined',
      ],
      ["handler: { onException: '{x}' }", "uses unknown variables: x"],
      ["handler: { onInterrupt: '{' }", '3: prompt "a onInterrupt": template 1:1: unclosed "{"'],
      ["name: ../b", '3: bad prompt path "../b": "." and ".." are not allowed'],
      ["name: /", "3: name must not be empty"],
      ["extends: a/./b", '3: bad prompt path "a/./b": "." and ".." are not allowed'],
      ["format: { type: objekt }", '3: prompt "a": format'],
    ] as const
  ) {
    const [found = "", ...more] = await problemsOf(front(line));
    assert.deepEqual(more, []);
    assert.ok(
      found.includes(message) || message.startsWith("3: prompt") && found.startsWith("3: "),
      `${found}\n${message}`,
    );
    assert.ok(found.startsWith("3: "), found);
  }
  assert.deepEqual(await problemsOf("---\ntags: { xmlTags: [a] }\nformat: {}\n---\nx"), [
    '1: prompt "a": give either tags or format, not both',
  ]);
});

Deno.test("discover: YAML that cannot be read is told in its line, with what to do", async () => {
  assert.deepEqual(await problemsOf("---\nname: a\ntools: [x\nmetadata: {}\n---\nx"), [
    "4: Found the end of a list or mapping in brackets too early. Close the bracket, and indent its lines more than the key it belongs to.",
  ]);
  assert.deepEqual(await problemsOf("---\n\n- a\n- b\n---\nx"), [
    "3: front matter must be a mapping of keys to values",
  ]);
  assert.deepEqual(await problemsOf("---\nname: a\nname: b\n---\nx"), [
    '3: The key "name" is written twice (first on line 2). Remove one of them, or join their values.',
  ]);
});

Deno.test("discover: a front matter fills all the fields of its prompt", async () => {
  const { registry, lines } = await discovered({
    "prompts/deep/a.prompt.md": [
      "--- ",
      "name: b/c",
      "description: What it is for.",
      "tags: { requiredXmlTags: [answer], signalTags: [DONE] }",
      "tools: [./_lib.ts#tool, Calculate]",
      "mcp: [{ label: m, url: 'https://example.com' }]",
      "addons: { webSearch: true }",
      "handler: { onException: 'Again: {error_message}' }",
      "metadata: { version: 3 }",
      "---\t",
      "",
      "Hello {who}",
      "",
      "",
    ].join("\r\n"),
    "prompts/deep/_lib.ts": { exports: [{ name: "tool", gadget: { name: "look", description: "d" } }] },
  });
  assert.deepEqual(lines, []);
  const prompt = registry.get("deep/b/c");
  assert.equal(prompt.template, "Hello {who}");
  assert.deepEqual(prompt.metadata, { version: 3, description: "What it is for." });
  assert.deepEqual(prompt.tools.map((tool) => typeof tool === "string" ? tool : tool.name), [
    "look",
    "Calculate",
  ]);
  assert.deepEqual(prompt.unlinked, ["look"]);
  assert.equal(prompt.allowWebSearch, true);
  assert.equal(prompt.mcp[0]?.label, "m");
  assert.deepEqual(await prompt.parse("<answer>1</answer> <DONE>"), {
    raw: "<answer>1</answer> <DONE>",
    xmlTags: { answer: ["1"] },
    mdTags: {},
    signalTags: { DONE: true },
  });
});

Deno.test("discover: extends goes by key, over files of every kind, and replaces whole fields", async () => {
  const registry = new PromptRegistry();
  registry.register(definePrompt({ path: "elsewhere/base", template: "E {e}", tools: ["Now"] }));
  const { lines } = await discovered({
    "prompts/a.prompt.md": "---\nextends: z/base\nformat: { type: object }\n---\n",
    "prompts/b.prompt.md": "---\nextends: a\nformat: null\ntags: { xmlTags: [t] }\n---\nB",
    "prompts/c.prompt.md": "---\nextends: /elsewhere//base/\ndescription: d\n---\n",
    "prompts/d.prompt.md": "---\nextends: dot\ntools: []\n---\n",
    "prompts/dot.prompt": "---\ntools: [Now]\n---\nHi {{x}}",
    "prompts/z.ts": { exports: [{ name: "base", template: "Z {q}" }] },
  }, { registry });
  assert.deepEqual(lines, []);
  const get = (path: string): AnyPrompt => registry.get(path);
  assert.deepEqual([get("a").template, get("a").format], ["Z {q}", { type: "object" }]);
  assert.deepEqual([get("b").template, get("b").format, get("b").parser === null], ["B", null, false]);
  assert.deepEqual([get("c").template, get("c").tools, get("c").metadata], ["E {e}", ["Now"], {
    description: "d",
  }]);
  assert.deepEqual([get("d")({ x: 1 }), get("d").tools, get("dot").tools], ["Hi 1", [], ["Now"]]);
});

Deno.test("discover: prompts that extend each other in a circle, and what extends them or something broken", async () => {
  const { registry, lines } = await discovered({
    "prompts/a.prompt.md": "---\nextends: b\n---\n",
    "prompts/b.prompt.md": "---\nname: b\nextends: c\n---\n",
    "prompts/c.prompt.md": "---\nextends: a\n---\n",
    "prompts/d.prompt.md": "---\nextends: c\n---\n",
    "prompts/e.prompt.md": "---\nextends: e\n---\nx",
    "prompts/f.prompt.md": "---\nextends: g\n---\nx",
    "prompts/g.prompt.md": "{",
    "prompts/h.prompt.md": "---\nextends: hh\n---\nx",
    "prompts/ok.prompt.md": "fine",
  });
  assert.deepEqual(registry.keys(), ["ok"]);
  assert.deepEqual(lines, [
    "prompts/a.prompt.md:2: extends: the prompts extend each other in a circle: a -> b -> c -> a",
    "prompts/b.prompt.md:3: extends: the prompts extend each other in a circle: b -> c -> a -> b",
    "prompts/c.prompt.md:2: extends: the prompts extend each other in a circle: c -> a -> b -> c",
    'prompts/d.prompt.md:2: extends: prompt "c" cannot be used: see the problems of prompts/c.prompt.md',
    "prompts/e.prompt.md:2: extends: the prompts extend each other in a circle: e -> e",
    'prompts/f.prompt.md:2: extends: prompt "g" cannot be used: see the problems of prompts/g.prompt.md',
    'prompts/g.prompt.md:1: prompt "g": template 1:1: unclosed "{": write "{{" for a literal brace',
    'prompts/h.prompt.md:2: extends: prompt "hh" not found. Did you mean "ok", or "a", which cannot be used (see prompts/a.prompt.md:2)?',
  ]);
});

Deno.test("discover: what a module throws is told, whatever it is", async () => {
  const thrown: readonly (readonly [unknown, string])[] = [
    [null, "found null thrown, expected an error"],
    [undefined, "found undefined thrown, expected an error"],
    [{ code: 1 }, "found an object thrown, expected an error"],
    ["words", "words"],
    [new TypeError(""), "TypeError"],
    [new Error("first\nsecond"), "first"],
  ];
  for (const [value, message] of thrown) {
    const modules = { "prompts/a.ts": () => Promise.reject(value) };
    const { problems } = await discoverIn({ files: {}, modules }, { strict: false });
    assert.deepEqual(problems, [{ file: "prompts/a.ts", key: "a/", line: 1, message }]);
  }
});

Deno.test("discover: a chain of a thousand prompts", async () => {
  const files = Object.fromEntries(
    Array.from({ length: 1000 }, (_, index) => [
      `prompts/p${index}.prompt.md`,
      index === 999 ? "end" : `---\nextends: p${index + 1}\n---\n`,
    ]),
  );
  const { registry, lines } = await discovered(files);
  assert.deepEqual(lines, []);
  assert.equal(registry.get("p0").template, "end");
});

Deno.test("discover: what a file refers to has to be there, inside the project, and what it should be", async () => {
  const library = {
    "prompts/_lib.ts": {
      exports: [{ name: "prompt", template: "x" }, { name: "tool", gadget: { name: "t", description: "" } }],
    },
    "prompts/_broken.ts": { raises: "boom" },
  };
  const of = (line: string) => problemsOf(`---\n${line}\n---\nx`, library);
  assert.deepEqual(await of("tools: [../../other.ts#x]"), [
    "2: tools: ../../other.ts#x is outside the project",
  ]);
  assert.deepEqual(await of("tools: [./_none.ts#x]"), [
    '2: tools: cannot load ./_none.ts: Module not found "prompts/_none.ts".',
  ]);
  assert.deepEqual(await of("tools: [./_broken.ts#x]"), ["2: tools: cannot load ./_broken.ts: boom"]);
  assert.deepEqual(await of("tools: [./_lib.ts#prompt]"), ["2: tools: ./_lib.ts#prompt is not a gadget"]);
  assert.deepEqual(await of("format: ./_lib.ts#tool"), ["2: format: ./_lib.ts#tool is not a schema"]);
  assert.deepEqual(await of("format: ./_lib.ts#zz"), ["2: format: ./_lib.ts#zz is not a schema"]);
});

Deno.test("discover: folders that cannot be used, each with its line", async () => {
  const { registry, lines } = await discovered({
    "orrery.yaml": [
      "prompts:",
      "  folders:",
      "    - prompts",
      "    - 5",
      "    - { path: prompts, prefx: a }",
      "    - { prefix: a }",
      "    - { path: prompts/a.prompt.md }",
      "    - /elsewhere",
      "    - { path: none, prefix: ../a }",
      "    - prompts/./",
    ].join("\n"),
    "prompts/a.prompt.md": "x",
  });
  assert.deepEqual(registry.keys(), ["a"]);
  assert.deepEqual(lines, [
    "orrery.yaml:4: prompts.folders[1] must be the path of a folder, or {path, prefix}",
    'orrery.yaml:5: prompts.folders[2]: unknown key "prefx". Did you mean "prefix"?',
    "orrery.yaml:6: prompts.folders[3]: path must be the path of a folder",
    'orrery.yaml:7: folder "prompts/a.prompt.md" is a file',
    'orrery.yaml:8: folder "/elsewhere" is outside the project',
    'orrery.yaml:9: prompts.folders[6]: bad prompt path "../a": "." and ".." are not allowed',
  ]);
  for (
    const [yaml, line] of [
      ["prompts: x", "orrery.yaml:1: prompts must be a mapping with folders"],
      ["a: 1\nprompts: { folders: prompts/ }", "orrery.yaml:2: prompts.folders must be a list"],
      ["prompts: [", "orrery.yaml:1: Found the end of a list or mapping in brackets too early"],
    ] as const
  ) {
    const { lines } = await discovered({ "orrery.yaml": yaml, "prompts/a.prompt.md": "x" });
    assert.ok(lines[0]?.startsWith(line) && lines.length === 1, lines.join("\n"));
  }
  assert.deepEqual((await discovered({ "a.txt": "" }, { folders: ["nope", { path: "../up" }] })).lines, [
    '../up:1: folder "../up" is outside the project',
    'nope:1: folder "nope" does not exist',
  ]);
});

Deno.test("discover: a file below two folders counts in the first", async () => {
  const { registry, lines } = await discovered({
    "orrery.yaml": "prompts: { folders: [prompts/, { path: prompts/shared, prefix: s }] }",
    "prompts/shared/a.prompt.md": "x",
  });
  assert.deepEqual(lines, []);
  assert.deepEqual(registry.keys(), ["shared/a"]);
});

Deno.test("discover: strict registers all or nothing; a registry of one's own is written over", async () => {
  const registry = new PromptRegistry();
  registry.register(definePrompt({ path: "a", template: "old" }));
  const files = { "prompts/a.prompt.md": "new", "prompts/b.prompt.md": "{" };
  await assert.rejects(discoverIn(project(files), { registry }), PromptError);
  assert.equal(registry.get("a").template, "old");
  const { registry: same } = await discoverIn(project(files), { registry, strict: false });
  assert.equal(same, registry);
  assert.equal(registry.get("a").template, "new");
});

Deno.test("discover: a file that is not text is a problem of that file", async () => {
  const files = { "prompts/a.prompt.md": new Uint8Array([0xff, 0xfe]), "prompts/b.prompt.md": "x" };
  const { registry, problems } = await discoverIn({ files }, { strict: false });
  assert.deepEqual(registry.keys(), ["b"]);
  assert.deepEqual(problems, [{
    file: "prompts/a.prompt.md",
    key: "a",
    isUnsure: true,
    line: 1,
    message:
      'Cannot read "prompts/a.prompt.md": it is not UTF-8 text: the first wrong byte is 0xFF at offset 0',
  }]);
});

Deno.test("discover: any text is read, or refused in a line that it has", async () => {
  const piece = fc.constantFrom(
    "---",
    "\n",
    "a: 1",
    "name: b",
    "tags: ",
    "{",
    "}",
    "x",
    " ",
    "- ",
    "\r\n",
    '"',
    "extends: a",
    "[",
    ":",
  );
  const text = fc.array(piece, { maxLength: 20 }).map((pieces) => pieces.join(""));
  await fc.assert(
    fc.asyncProperty(fc.array(text, { minLength: 30, maxLength: 30 }), async (texts) => {
      for (const name of ["a.prompt.md", "a.prompt"]) {
        const files = texts.map((text, n) =>
          [`prompts/${n}/${name}`, text.replaceAll("extends: a", `extends: ${n}/a`)] as const
        );
        const { registry, problems } = await discoverIn(
          { files: Object.fromEntries(files) },
          { strict: false },
        );
        const broken = new Set(problems.map(({ file }) => file));
        assert.equal(registry.keys().length, texts.length - broken.size);
        for (const { file, line } of problems) {
          const text = files.find(([path]) => path === file)?.[1] ?? assert.fail(file);
          assert.ok(line >= 1 && line <= text.split("\n").length + 1, `${line} of ${JSON.stringify(text)}`);
        }
      }
    }),
    { numRuns: tries(10, 300) },
  );
});

Deno.test("discover: a front matter comes out as it went in", async () => {
  const value = fc.letrec((tie) => ({
    value: fc.oneof(
      fc.string(),
      fc.integer(),
      fc.boolean(),
      fc.constant(null),
      fc.array(tie("value"), { maxLength: 3 }),
    ),
  })).value;
  const name = fc.string({ unit: fc.constantFrom("a", "é", "b c", "-"), minLength: 1, maxLength: 5 }).filter((
    each,
  ) => each.trim() !== "");
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.dictionary(fc.string(), value), name, fc.string()), {
        minLength: 20,
        maxLength: 20,
      }),
      async (drawn) => {
        const texts = drawn.map(([metadata, name, body], n) => ({
          path: `${n}/${name}`,
          metadata,
          template: body.replaceAll(/[{}]/g, "$&$&").replaceAll("\r\n", "\n").replaceAll(/^\n+|\n+$/g, ""),
          front: JSON.stringify({ name, metadata }),
        }));
        const { registry, lines } = await discovered(Object.fromEntries(
          texts.map(({ front, template }, n) => [
            `prompts/${n}/x.prompt.md`,
            `---\n${front}\n---\n\n${template}\n`,
          ]),
        ));
        assert.deepEqual(lines, []);
        for (const { path, metadata, template } of texts) {
          const prompt = registry.get(path);
          assert.equal(prompt.template, template);
          assert.deepEqual({ ...prompt.metadata }, JSON.parse(JSON.stringify(metadata)));
        }
      },
    ),
    { numRuns: tries(5, 100) },
  );
});
