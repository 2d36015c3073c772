import assert from "node:assert/strict";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import { type AnyGadget, createCatalog, defineGadget, type JsonSchema, type StandardSchema } from "../mod.ts";

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true : false;

/** Checks only when `A` and `B` are the same type. */
function same<A, B>(isSame: Equal<A, B>): void {
  assert.ok(isSame);
}

const fetchPage = defineGadget({
  name: "FetchPage",
  description: "Fetches a page.",
  input: {
    type: "object",
    properties: {
      url: { type: "string" },
      tries: { type: "integer", default: 3 },
      mode: { enum: ["text", "html"] },
      version: { const: 1 },
      tags: { type: "array", items: { type: "string" } },
      wait: { type: ["number", "null"] },
      either: { anyOf: [{ type: "boolean" }, { type: "number" }] },
      options: { type: "object", properties: { deep: { type: "boolean" } }, required: ["deep"] },
      headers: { type: "object", additionalProperties: { type: "string" } },
      anything: {},
      other: { $ref: "#/$defs/Other" },
    },
    required: ["url", "mode"],
    $defs: { Other: { type: "string" } },
  },
  run(input, { log }) {
    same<typeof input, {
      url: string;
      tries: number;
      mode: "text" | "html";
      version?: 1;
      tags?: string[];
      wait?: number | null;
      either?: boolean | number;
      options?: { deep: boolean };
      headers?: Record<string, string>;
      anything?: unknown;
      other?: unknown;
    }>(true);
    log(input.url);
    return input.tags?.map((tag) => tag.toUpperCase()) ?? [];
  },
});

Deno.test("defineGadget: the input type of run follows from the schema", () => {
  const byZod = defineGadget({
    name: "Zod",
    input: z.object({ n: z.number().default(3), day: z.string().transform((text) => text.length) }),
    run({ n, day }) {
      same<typeof n, number>(true);
      same<typeof day, number>(true);
      return n + day;
    },
  });
  const noSchema = defineGadget({
    name: "NoSchema",
    run(input) {
      same<typeof input, Record<string, unknown>>(true);
      return null;
    },
  });
  const noType = defineGadget({
    name: "NoType",
    input: { properties: { x: { type: "string" } } },
    async *run({ x }) {
      same<typeof x, string | undefined>(true);
      yield await Promise.resolve(x);
    },
  });
  const schema: JsonSchema = { type: "object" };
  const wide = defineGadget({
    name: "Wide",
    input: schema,
    run(input) {
      same<typeof input, Record<string, unknown>>(true);
      return input.anything ?? null;
    },
  });
  const handMade: StandardSchema<unknown, { id: number }> = {
    "~standard": { version: 1, vendor: "test", validate: () => ({ value: { id: 1 } }) },
  };
  const byHand = defineGadget({
    name: "ByHand",
    input: handMade,
    run: ({ id }) => {
      same<typeof id, number>(true);
      return id;
    },
  });
  const declared = defineGadget({ name: "Declared", description: "Linked later." });
  const all: readonly AnyGadget[] = [fetchPage, byZod, noSchema, noType, wide, byHand, declared];
  assert.deepEqual(all.map(({ name }) => name), [
    "FetchPage",
    "Zod",
    "NoSchema",
    "NoType",
    "Wide",
    "ByHand",
    "Declared",
  ]);
});

Deno.test("defineGadget: a frozen copy comes back, what was given stays as it was", () => {
  const input = { type: "object", properties: { x: { type: "string" } } } as const;
  const written = { name: "Copied", input, permissions: { net: ["example.com"] }, run: () => 1 } as const;
  const gadget = defineGadget(written);
  same<typeof gadget.name, "Copied">(true);
  assert.ok(!Object.isFrozen(written) && !Object.isFrozen(input));
  assert.ok(Object.isFrozen(gadget) && Object.isFrozen(gadget.permissions.net) && Object.isFrozen(fetchPage));
  const { link: _link, ...rest } = gadget;
  assert.deepEqual(rest, { ...written, description: "", kind: "gadget", linked: true });
});

Deno.test("defineGadget: what is declared is linked later, in a copy", () => {
  const declared = defineGadget({
    name: "Declared",
    input: z.object({ title: z.string() }),
    timeoutMs: 10,
    format: (result: string) => result,
  });
  const linked = declared.link(({ title }) => {
    same<typeof title, string>(true);
    return title;
  });
  assert.deepEqual([declared.linked, declared.run, linked.linked], [false, undefined, true]);
  assert.equal(linked.input, declared.input);
  assert.deepEqual([linked.name, linked.timeoutMs, linked.format], ["Declared", 10, declared.format]);
  const again = linked.link(({ title }: { title: string }) => title.length);
  assert.notEqual(again.run, linked.run);
  assert.throws(() => declared.link(5 as never), {
    name: "PromptError",
    message: `gadget "Declared": cannot link 5: not a function`,
  });
});

Deno.test("defineGadget: the methods of a class stay those of its instance", () => {
  class Counter {
    readonly name = "Counter";
    #count = 0;

    run() {
      return ++this.#count;
    }
  }
  const counter = defineGadget(new Counter());
  const run = counter.run as () => number;
  assert.deepEqual([counter.name, run.call(counter), run.call(counter)], ["Counter", 1, 2]);
  assert.equal(counter.link(() => 5).linked, true);
});

Deno.test("defineGadget: the text for the model is made of what run gives", () => {
  const stock = defineGadget({
    name: "Stock",
    run: () => Promise.resolve({ price: 3 }),
    format: (result) => {
      same<typeof result, { price: number }>(true);
      return `$${result.price.toFixed(2)}`;
    },
  });
  const call = { gadgetName: "Stock", invocationId: "s", parameters: {} };
  assert.equal(stock.format?.({ price: 3 }, call), "$3.00");
});

Deno.test("defineGadget: a gadget is a gadget everywhere, whoever defined it", () => {
  const foreign = { ...fetchPage, name: "Foreign" }; // of another copy of Orrery, say
  const catalog = createCatalog([fetchPage, foreign]);
  assert.deepEqual([fetchPage, foreign].map(({ name }) => catalog.maybeFind(name)?.load()), [
    fetchPage,
    foreign,
  ]);
  assert.equal(defineGadget(foreign).name, "Foreign");
  assert.throws(() => createCatalog([{ name: "G", linked: true } as AnyGadget]), {
    message: /unknown field "linked"/,
  });
});

const SNIPPETS: readonly (readonly [what: string, code: string, error: RegExp])[] = [
  ["a property that is not in the schema", `run: ({ ulr }) => ulr`, /'ulr' does not exist/],
  ["an optional property used as if it were there", `run: ({ tag }) => tag.length`, /possibly 'undefined'/],
  ["a value outside of the enum", `run: ({ mode }) => mode === "xml"`, /no overlap/],
  [
    "a number used as text",
    `run: ({ n }) => n.toUpperCase()`,
    /'toUpperCase' does not exist on type 'number'/,
  ],
  ["a field with a typing error", `desciption: "x", run: () => 1`, /'desciption' does not exist/],
  ["a time-out in words", `timeoutMs: "20s", run: () => 1`, /not assignable to type 'number'/],
  ["an unknown permission", `permissions: { network: true }, run: () => 1`, /'network' does not exist/],
];

Deno.test("defineGadget: what must not type-check does not", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const code = await Promise.all(SNIPPETS.map(async ([, body], index) => {
      const file = join(folder, `snippet_${index}.ts`);
      await Deno.writeTextFile(file, snippet(body));
      return file;
    }));
    const fine = join(folder, "fine.ts");
    await Deno.writeTextFile(
      fine,
      snippet(`run: ({ n, mode, tag }) => n + mode.length + (tag?.length ?? 0)`),
    );
    const { success, output } = await typeCheck([...code, fine]);
    assert.equal(success, false);
    const errors = output.split("\n\n");
    for (const [index, [what, , expected]] of SNIPPETS.entries()) {
      const told = errors.filter((error) => error.includes(`snippet_${index}.ts`)).join("\n");
      assert.match(told, expected, `${what}: ${told || output}`);
    }
    assert.ok(!output.includes("fine.ts:"), output);
    assert.equal((await typeCheck([fine])).success, true);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

function snippet(body: string): string {
  const module = new URL("../lib/schema/define_gadget.ts", import.meta.url); // "orrery", of which it is a part that is checked sooner
  const input =
    `{ properties: { n: { type: "number" }, mode: { enum: ["a", "b"] }, tag: { type: "string" } }, required: ["n", "mode"] }`;
  return `import { defineGadget } from "${module}";\nexport default defineGadget({ name: "G", input: ${input}, ${body} });\n`;
}

async function typeCheck(files: readonly string[]): Promise<{ success: boolean; output: string }> {
  const config = fileURLToPath(new URL("../deno.json", import.meta.url));
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["check", "--quiet", "--no-lock", "--config", config, ...files],
    env: { NO_COLOR: "1" },
  }).output();
  return { success, output: new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr) };
}

const BAD_GADGETS: readonly (readonly [gadget: unknown, message: string])[] = [
  [undefined, "gadget 1: found nothing, expected a gadget: an object with name, description, input and run"],
  [() => 1, "gadget 1: found a function, expected a gadget: an object with name, description, input and run"],
  [[], "gadget 1: found an empty array, expected a gadget: an object with name, description, input and run"],
  [{ run: () => 1 }, "gadget 1: name: missing, expected a name such as FetchPage"],
  [
    { name: "fetch page" },
    `gadget 1: name: found "fetch page", expected up to 64 letters, digits, "_" and "-", the first a letter or "_"`,
  ],
  [
    { name: "G", desciption: "x" },
    `gadget 1: gadget "G": unknown field "desciption". Did you mean "description"?`,
  ],
  [{ name: "G", description: 5 }, `gadget 1: gadget "G": description: found 5, expected text`],
  [
    { name: "G", input: "x" },
    `gadget 1: gadget "G": input: found "x", expected a JSON Schema or a Standard Schema`,
  ],
  [
    { name: "G", input: { properties: { a: { type: "strng" } } } },
    `gadget 1: gadget "G": input/properties/a/type: found "strng", expected string, number, integer, boolean, null, array, object, or a list of these. Did you mean "string"?`,
  ],
  [
    { name: "G", input: { type: "string" } },
    `gadget 1: gadget "G": input/type: found "string", expected "object": the parameters of a call are always an object`,
  ],
  [
    { name: "G", output: { $ref: "#/$defs/Nmae", $defs: { Name: {} } } },
    `gadget 1: gadget "G": output/$ref: "#/$defs/Nmae" leads nowhere in the schema. Did you mean "Name"?`,
  ],
  [
    { name: "G", permissions: { nett: true } },
    `gadget 1: gadget "G": permissions/nett: unknown permission, expected one of read, write, net, run, env, sys. Did you mean "net"?`,
  ],
  [{ name: "G", permissions: { ffi: true } }, `gadget 1: gadget "G": permissions/ffi: cannot be asked for`],
  [
    { name: "G", permissions: { net: "example.com" } },
    `gadget 1: gadget "G": permissions/net: found "example.com", expected true or a list of texts`,
  ],
  [
    { name: "G", timeoutMs: 0 },
    `gadget 1: gadget "G": timeoutMs: found 0, expected whole milliseconds from 1 to 2147483647`,
  ],
  [
    { name: "G", maxConcurrent: 1.5 },
    `gadget 1: gadget "G": maxConcurrent: found 1.5, expected a whole number, at least 1`,
  ],
  [{ name: "G", exclusive: "yes" }, `gadget 1: gadget "G": exclusive: found "yes", expected true or false`],
  [
    { name: "G", run: "echo" },
    `gadget 1: gadget "G": run: found "echo", expected a function (input, context) => result`,
  ],
  [
    { name: "G", examples: [{ input: {} }, { input: 1 }] },
    `gadget 1: gadget "G": examples/1: found {"input":1}, expected { input, comment? }, with input an object`,
  ],
  [
    { name: "G", timeoutMs: -1, idempotent: 1 },
    `gadget 1: gadget "G": timeoutMs: found -1, expected whole milliseconds from 1 to 2147483647\ngadget 1: gadget "G": idempotent: found 1, expected true, false or a function (input) => boolean`,
  ],
];

Deno.test("createCatalog: every problem is told with the gadget, the field, what was found and expected", () => {
  for (const [gadget, message] of BAD_GADGETS) {
    assert.throws(() => createCatalog([gadget as AnyGadget]), { name: "TypeError", message });
  }
});

Deno.test("createCatalog: a plain object is a gadget", () => {
  const gadget = { name: "G", description: "", input: {}, timeoutMs: 20_000, run: () => 1 };
  assert.equal(createCatalog([gadget]).maybeFind("G")?.load(), gadget);
});

Deno.test("defineGadget: throws at once when a field is wrong", () => {
  const bad: readonly (readonly [definition: unknown, message: string])[] = [
    [undefined, "defineGadget takes an object with name, description, input and run, found undefined"],
    [{}, "gadget name must be text such as FetchPage, found undefined"],
    [{ name: "a b" }, 'gadget name "a b" must match [A-Za-z0-9_-]{1,64}'],
    [{ name: "1a" }, 'gadget name "1a" must match [A-Za-z_][A-Za-z0-9_-]{0,63}'],
    [{ name: "G", desciption: "x" }, 'gadget "G": unknown key "desciption". Did you mean "description"?'],
    [{ name: "G", input: { type: "string" } }, 'gadget "G": input must describe an object'],
    [{ name: "G", input: z.string() }, 'gadget "G": input must describe an object'],
    [
      { name: "G", timeoutMs: NaN, run: 5 },
      'gadget "G": timeoutMs: found NaN, expected whole milliseconds from 1 to 2147483647\n' +
      'gadget "G": run: found 5, expected a function (input, context) => result',
    ],
    [
      { name: "G", input: { properties: { a: { type: "strng" } } } },
      'gadget "G": input/properties/a/type: found "strng", expected string, number, integer, boolean, null, ' +
      'array, object, or a list of these. Did you mean "string"?',
    ],
  ];
  for (const [definition, message] of bad) {
    assert.throws(() => defineGadget(definition as { name: string }), {
      name: "PromptError",
      code: "define",
      message,
    });
  }
});
