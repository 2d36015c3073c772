import fc from "fast-check";
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { z } from "zod";
import {
  AgentError,
  type AnyPrompt,
  defineGadget,
  definePrompt,
  type Handler,
  type HandlerState,
  ParseError,
  type PromptDef,
  PromptError,
  type Schema,
  TagParser,
  tags,
} from "../mod.ts";
import { agentTalk, calling, type Said } from "./_agent_talk.ts";
import { type Data, promptCases, promptFields, snapshot } from "./_prompt_cases.ts";

const define = (given: Data): AnyPrompt => definePrompt(promptFields(given));

/** A definition that the types would refuse. */
const wrong = (definition: unknown) => () => definePrompt(definition as PromptDef);

const problem = (message: string, code = "define") => ({ name: "PromptError", code, message });

async function tryCase(name: string, { error, errorKind, code }: Data, run: () => unknown): Promise<void> {
  try {
    await run();
  } catch (thrown) {
    if (error === undefined || !(thrown instanceof Error)) throw thrown;
    assert.ok(thrown.message.includes(error), `${name}: ${thrown.message}`);
    assert.equal(thrown.name, errorKind, name);
    if (thrown instanceof PromptError || thrown instanceof AgentError) assert.equal(thrown.code, code, name);
    return;
  }
  assert.equal(error, undefined, `${name}: nothing was thrown`);
}

Deno.test("cases: extend", async (t) => {
  for (const { name, input, expected, ...failure } of promptCases("extend")) {
    await t.step(
      name,
      () => tryCase(name, failure, async () => assert.deepEqual(await extended(input), expected)),
    );
  }
});

async function extended({ gadget, base: given, overrides, link, parse }: Data): Promise<unknown> {
  if (gadget !== undefined) {
    const { linked, ...fields } = gadget;
    const { name, description, input, permissions, ...defined } = defineGadget({
      ...fields,
      ...(linked && { run: () => 1 }),
    });
    return { name, description, input, linked: defined.linked, permissions };
  }
  const base = define(given);
  if (parse !== undefined) return { parsed: await base.parse(parse) };
  if (link !== undefined) {
    const links = Object.fromEntries(
      link.map((each: Data) => typeof each === "string" ? [each, () => 1] : [each.name, each.value]),
    );
    const before = [...base.unlinked];
    const copy = base.link(links);
    return { base: { before, after: [...base.unlinked] }, copy: [...copy.unlinked] };
  }
  if (overrides === undefined) return snapshot(base);
  const before = snapshot(base);
  const child = base.extend(promptFields(overrides));
  return { child: snapshot(child), baseUnchanged: JSON.stringify(snapshot(base)) === JSON.stringify(before) };
}

const shortHash = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 12);

Deno.test("cases: hash", async (t) => {
  for (const { name, input, expected } of promptCases("hash")) {
    await t.step(name, () => {
      if (input.prompts !== undefined) {
        const infos = input.prompts.map((each: Data) => define(each).info());
        const same = (key: string) => infos[0][key] === infos[1][key];
        const found = { samePromptHash: same("promptHash"), sameContractHash: same("contractHash"), infos };
        return assert.deepEqual(found, expected);
      }
      const info = define(input.prompt).info();
      assert.deepEqual(info, expected.info);
      if (input.showContract) assert.equal(info.contractHash, shortHash(expected.contract));
    });
  }
});

/** Reads `bad: MESSAGE` as an answer that breaks the contract with that message. */
class Told extends TagParser<never, never> {
  override parse(text: string) {
    const [, message] = /^bad: (.*)$/s.exec(text) ?? [];
    if (message !== undefined) throw new ParseError(message);
    return { raw: text, xmlTags: {}, mdTags: {}, signalTags: {} };
  }
}

interface HandlerEvent {
  readonly event: "onException" | "onInterrupt" | "onInterruptFinal";
  readonly retry?: number;
  readonly error_message?: string;
}

/** What leads to these events, one after the other. */
function leadingTo(events: readonly HandlerEvent[], tool: string): readonly Said[] {
  const script: Said[] = [];
  let [retries, rounds] = [0, 0];
  const round = () => {
    rounds++;
    script.push(calling([tool]));
  };
  for (const { event, retry = 1, error_message = "E" } of events) {
    if (event === "onInterrupt") round();
    else if (event === "onInterruptFinal") rounds === 0 && round(); // else it comes behind the last round
    else while (retries < retry) retries = script.push(`bad: ${error_message}`) && retries + 1;
  }
  return script;
}

/** The specification in force behind these events of a turn, and what the model has read last. */
async function behind(base: AnyPrompt, events: readonly HandlerEvent[]) {
  const [tool] = base.tools;
  const script = leadingTo(events, typeof tool === "string" ? tool : tool?.name ?? "none");
  const rounds = script.filter((said) => typeof said === "object").length;
  const isFinal = events.some(({ event }) => event === "onInterruptFinal");
  let prompt = base;
  const last: Said = () => {
    prompt = talk.dialog.topPrompt;
    return { text: "{}" };
  };
  const limits = isFinal ? { interruptSteps: rounds } : {};
  const talk = agentTalk([...script, last], { limits, addons: ["webSearch"] });
  await talk.run(talk.dialog.ask(base, { task: "t", q: "q" }));
  return { prompt, text: talk.requests.at(-1)?.messages.at(-1)?.content ?? "" };
}

Deno.test("cases: handlers", async (t) => {
  for (const { name, input: { base: given, events }, expected, ...failure } of promptCases("handlers")) {
    await t.step(name, () =>
      tryCase(name, failure, async () => {
        const { parser, ...fields } = promptFields(given);
        const base: AnyPrompt = definePrompt({
          ...fields,
          ...(parser && { parser: new Told(given.parser) }),
        });
        const wanted: readonly Data[] = expected ?? [{}];
        for (const [n, { text: wantedText, ...wantedPrompt }] of wanted.entries()) {
          const { prompt, text } = await behind(base, events.slice(0, n + 1));
          assert.deepEqual({ ...snapshot(prompt), rootPath: prompt.rootPath }, wantedPrompt);
          // A tool without an implementation gives no "R", and JSON that is none says why.
          const told = wantedText.replace(/R$/, 'Error: tool "TOOL" has no implementation');
          const found = text.replace(/tool "\w+"/, 'tool "TOOL"');
          if (given.format === undefined) assert.equal(found, told);
          else assert.match(found, /^Error: Output is not valid JSON: .*\. Please fix\.$/);
        }
      }));
  }
});

Deno.test("cases: render, by the prompt", async (t) => {
  for (const { name, input, expected, ...failure } of promptCases("render")) {
    await t.step(name, () =>
      tryCase(name, failure, () => {
        const prompt = define({ path: "t", template: input.template, ...rendererOf(input) });
        const text = input.noArgs ? prompt() : prompt(revived(input.args));
        assert.deepEqual({ text, vars: prompt.vars }, expected);
      }));
  }
});

const rendererOf = ({ renderer }: Data) => renderer === undefined ? {} : { renderer };

/** The values that JSON cannot say. */
function revived(value: Data): Data {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(revived);
  if ("$date" in value) return new Date(value.$date);
  if ("$bigint" in value) return BigInt(value.$bigint);
  if ("$map" in value) return new Map(value.$map.map(revived));
  if ("$set" in value) return new Set(value.$set.map(revived));
  if ("$undefined" in value) return undefined;
  if ("$function" in value) return () => 1;
  if ("$number" in value) return Number(value.$number);
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, revived(item)]));
}

const search = defineGadget({ name: "search", description: "Searches.", run: () => "found" });
const note = defineGadget({ name: "note", description: "Notes.", input: z.object({ text: z.string() }) });

const FULL: PromptDef = {
  path: "full",
  template: "Q {q}",
  tools: [search, note, "Calculate"],
  mcp: [{ label: "m", command: "srv", args: ["-x"], allowedTools: ["a"] }],
  addons: { webSearch: true, computerUse: true, later: { deep: [1] } },
  handler: { onException: "E {error_message}", onInterrupt: () => null },
  metadata: { list: [{ a: 1 }] },
  format: { type: "object", properties: { a: { type: "integer" } } },
};

function assertFrozen(value: unknown, where: string): void {
  if (typeof value !== "object" || value === null) return;
  assert.ok(Object.isFrozen(value), `${where} is not frozen`);
  for (const [key, item] of Object.entries(value)) assertFrozen(item, `${where}.${key}`);
}

Deno.test("a prompt is frozen through and through, and what it was made of is left alone", () => {
  const definition = structuredClone({ ...FULL, tools: [], handler: {} });
  const prompt = definePrompt(definition);
  assert.ok(Object.isFrozen(prompt) && prompt.kind === "prompt" && typeof prompt === "function");
  for (const [key, value] of Object.entries(prompt)) assertFrozen(value, key);
  assertFrozen(prompt.info(), "info");
  definition.metadata = {};
  assert.ok(!Object.isFrozen(definition.mcp) && !Object.isFrozen(definition.format));
  assert.deepEqual(prompt.metadata, { list: [{ a: 1 }] });
  assert.throws(() => Object.assign(prompt, { template: "other" }), TypeError);
  assert.equal(prompt.name, "full");
});

Deno.test("called without an argument it is its template; with arguments it is rendered", () => {
  const prompt = definePrompt({ path: "p", template: "{{a}} {b}" });
  assert.equal(prompt(), "{{a}} {b}");
  assert.equal(prompt({ b: 1 }), "{a} 1");
  assert.equal(prompt.render({ b: 1 }), "{a} 1");
  const plain = definePrompt({ template: "{{x}}" });
  assert.deepEqual([plain(), plain({}), plain.render()], ["{{x}}", "{x}", "{x}"]);
  const loose: AnyPrompt = prompt;
  assert.throws(() => loose.render(), problem('prompt "p": missing variables: b', "render"));
  for (const args of [null, [], "b"]) {
    assert.throws(() => loose(args as Data), problem('prompt "p": arguments must be an object', "render"));
  }
});

Deno.test("a template error has the place in its cause", () => {
  assert.throws(() => definePrompt({ path: "p", template: "a\n {" }), (error: unknown) => {
    assert.ok(error instanceof PromptError && error.cause instanceof Error);
    const { name, line, column } = error.cause as Data;
    assert.deepEqual([error.code, name, line, column], ["template", "TemplateError", 2, 2]);
    assert.equal(error.message, 'prompt "p": template 2:2: unclosed "{": write "{{" for a literal brace');
    return true;
  });
});

Deno.test("what is wrong with a definition is told with the prompt, the field, what was found and expected", () => {
  const field = 'prompt "p": ';
  const parse = (text: string) => text;
  const wrongFields: readonly (readonly [fields: Record<string, unknown>, message: string])[] = [
    [{ template: undefined }, "template must be a string"],
    [{ template: null }, "template must be a string"],
    [{ parser: {} }, "parser must be an object with parse(text), found an object"],
    [{ parser: { parse }, format: {} }, "give either parser or format, not both"],
    [{ format: "json" }, 'format must be a JSON Schema or a Standard Schema, found "json"'],
    [{ tools: search }, "tools must be a list, found an object"],
    [{ tools: [search, { ...search }] }, 'duplicate tool "search"'],
    [{ tools: [""] }, "tools[0]: found empty text, expected a gadget or the name of one"],
    [{ tools: ["a", () => 1] }, "tools[1]: found a function, expected a gadget or the name of one"],
    [
      { tools: [{ name: "G", timeoutMs: 0, run: 1 }] },
      'tools[0]: gadget "G": timeoutMs: found 0, expected whole milliseconds from 1 to 2147483647; ' +
      'gadget "G": run: found 1, expected a function (input, context) => result',
    ],
    [{ mcp: {} }, "mcp must be a list, found an object"],
    [{ mcp: [{ url: "u" }] }, "mcp[0]: label is required, a text that is not empty"],
    [{ mcp: ["u"] }, "mcp[0]: label is required, a text that is not empty"],
    [{ mcp: [{ label: "l", url: 5 }] }, 'mcp "l": url and command are text'],
    [{ mcp: [{ label: "l", url: "" }] }, 'mcp "l": url and command are text'],
    [{ mcp: [{ label: "l", url: "u", args: [] }] }, 'mcp "l": args go with a command'],
    [{ mcp: [{ label: "l", command: "c", args: "x" }] }, 'mcp "l": args must be a list of texts'],
    [{ mcp: [{ label: "l", url: "u", allowedTools: [1] }] }, 'mcp "l": allowedTools must be a list of names'],
    [
      { mcp: [{ label: "l", url: "u", approval: "always" }] },
      'mcp "l": approval must be never, manual or auto, found "always"',
    ],
    [
      { mcp: [{ label: "l", url: "u", allowdTools: ["a"] }] },
      'mcp "l": unknown key "allowdTools". Did you mean "allowedTools"?',
    ],
    [{ addons: [] }, "addons must be an object, found an empty array"],
    [{ addons: { webSearch: "yes" } }, 'addon webSearch must be true or false, found "yes"'],
    [
      { addons: { computerUse: 1 } },
      "addon computerUse must be true, false or { displayWidth, displayHeight, environment }, found 1",
    ],
    [
      { addons: { computerUse: { displayWidth: 0 } } },
      "addon computerUse: displayWidth must be whole pixels, found 0",
    ],
    [
      { addons: { computerUse: { environment: "" } } },
      "addon computerUse: environment must be text, found empty text",
    ],
    [
      { addons: { computerUse: { width: 1 } } },
      'addon computerUse: unknown key "width"',
    ],
    [{ addons: { other: () => 1 } }, "addons must be JSON: found a function at other"],
    [{ handler: "x" }, 'handler must be an object such as { onException: "…" }, found "x"'],
    [{ handler: { onExeption: "x" } }, 'handler: unknown key "onExeption". Did you mean "onException"?'],
    [{ handler: { onException: 5 } }, "handler onException must be text or a function, found 5"],
    [
      { handler: { onInterruptFinal: "{call_results} {x}" } },
      "handler onInterruptFinal uses unknown variables: call_results, x (known: step, max_steps)",
    ],
    [{ renderer: {} }, "renderer must be an object with render(template, args), found an object"],
    [{ renderer: { render: parse, vars: () => [5] } }, "vars() of the renderer must give names"],
    [{ metadata: [1] }, "metadata must be an object, found an array"],
    [{ metadata: { a: { b: NaN } } }, "metadata must be JSON: found the number NaN at a/b"],
    [{ mcp_servers: [], handlers: {} }, 'unknown key "mcp_servers"'],
    [{ handlers: {} }, 'unknown key "handlers". Did you mean "handler"?'],
  ];
  for (const [fields, message] of wrongFields) {
    assert.throws(wrong({ path: "p", template: "x", ...fields }), problem(field + message));
  }
  assert.throws(
    wrong(undefined),
    problem("definePrompt takes an object such as { path, template }, found undefined"),
  );
  assert.throws(wrong({ path: 5, template: "x" }), problem("prompt path must be a string, found 5"));
  assert.throws(wrong({ template: "x", format: { type: "strng" } }), {
    code: "define",
    message: /^the JSON Schema of format is broken.*type.*strng/,
  });
});

Deno.test("a renderer that fails is told as an error of rendering", () => {
  const render = () => {
    throw new Error("no such block");
  };
  const prompt = definePrompt({ path: "r", template: "x", renderer: { render } });
  assert.throws(() => prompt({}), problem('prompt "r": the renderer failed: no such block', "render"));
  assert.equal(prompt(), "x");
  const vars = () => {
    throw new Error("cannot read");
  };
  assert.throws(
    () => definePrompt({ path: "r", template: "x", renderer: { render: () => "", vars } }),
    problem('prompt "r": vars() of the renderer failed: cannot read'),
  );
});

Deno.test("extend: a renderer, linked gadgets and handlers are carried by reference; the path is its own", () => {
  const renderer = { render: (template: string) => template.toUpperCase(), vars: () => ["v"] };
  const base = definePrompt({ ...FULL, renderer });
  const copy = base.extend({ path: "/copies//one/" });
  assert.deepEqual([copy.path, copy.rootPath, copy.vars], ["copies/one", "copies/one", ["v"]]);
  assert.equal(copy({ v: 1 }), "Q {Q}");
  assert.equal(copy.tools[0], search);
  assert.equal(copy.handler, base.handler);
  assert.equal(copy.format, base.format);
  assert.equal(base.extend({ path: "x", template: "$ {" })({ v: 1 }), "$ {");
  const loose: AnyPrompt = base;
  for (const overrides of [undefined, {}, { path: "" }, { template: "x" }]) {
    assert.throws(() => loose.extend(overrides as Data), problem('prompt "full": extend() needs a new path'));
  }
  assert.throws(
    () => loose.extend({ path: 5 } as Data),
    problem('prompt "full": path must be a string, found 5'),
  );
  assert.throws(
    () => loose.extend({ path: "a/./b" }),
    problem('bad prompt path "a/./b": "." and ".." are not allowed'),
  );
});

Deno.test("extend: what is given of a contract replaces the whole contract", () => {
  const parser = tags({ requiredXmlTags: ["a"] });
  const parsed = definePrompt({ path: "p", template: "x", parser });
  const formatted = definePrompt({ path: "p", template: "x", format: { type: "object" } });
  const contract = ({ parser, format }: AnyPrompt) => [parser !== null, format !== null];
  assert.deepEqual(contract(parsed.extend({ path: "c" })), [true, false]);
  assert.deepEqual(contract(parsed.extend({ path: "c", format: { type: "array" } })), [false, true]);
  assert.deepEqual(contract(parsed.extend({ path: "c", format: null })), [false, false]);
  assert.deepEqual(contract(parsed.extend({ path: "c", parser: undefined, format: undefined })), [
    true,
    false,
  ]);
  assert.deepEqual(contract(formatted.extend({ path: "c", parser })), [true, false]);
  assert.deepEqual(contract(formatted.extend({ path: "c", parser: null, format: {} })), [false, true]);
  assert.throws(
    () => parsed.extend({ path: "c", parser, format: {} }),
    problem('prompt "c": give either parser or format, not both'),
  );
});

Deno.test("parse: by no contract, a parser, a JSON Schema, a Standard Schema", async () => {
  const of = (fields: Partial<PromptDef>): AnyPrompt => definePrompt({ template: "x", ...fields });
  assert.deepEqual(await of({}).parse("hi"), { raw: "hi" });
  assert.deepEqual(await of({ parser: { parse: (text) => text.length } }).parse("hi"), 2);
  const schema: Schema = { type: "object", properties: { n: { type: "integer", default: 3 } } };
  assert.deepEqual(await of({ format: schema }).parse("{}"), { n: 3 });
  assert.deepEqual(await of({ format: z.string().transform((text) => text.length) }).parse('"four"'), 4);
  await assert.rejects(of({ format: schema }).parse("{"), ParseError);
  await assert.rejects(of({ parser: tags({ requiredXmlTags: ["a"] }) }).parse(""), ParseError);
  const seen: unknown[] = [];
  const prompt = of({ parser: { parse: (_text, ctx) => seen.push(ctx?.prompt, ctx?.signal.aborted) } });
  await prompt.parse("");
  assert.deepEqual(seen, [prompt, false]);
});

Deno.test("link: a copy runs the functions, and the contract is the same", () => {
  const prompt = definePrompt(FULL) as AnyPrompt;
  assert.deepEqual(prompt.unlinked, ["note"]);
  const linked = prompt.link({ note: () => "kept", search: () => "other" });
  assert.deepEqual([linked.unlinked, prompt.unlinked, linked.path], [[], ["note"], "full"]);
  const [otherSearch, linkedNote, plain] = linked.tools;
  assert.ok(typeof otherSearch === "object" && typeof linkedNote === "object" && plain === "Calculate");
  assert.ok(
    otherSearch.run !== search.run && otherSearch.name === "search" && linkedNote.input === note.input,
  );
  assert.equal(linked.info().contractHash, prompt.info().contractHash);
  const declared = "(declared: search, note, Calculate)";
  assert.throws(
    () => prompt.link({ nots: () => 1 }),
    problem(`prompt "full": cannot link "nots": not a declared tool ${declared}`),
  );
  assert.throws(
    () => prompt.link({ Calculate: () => 1 }),
    problem('prompt "full": cannot link "Calculate": it is resolved in the catalogue'),
  );
  for (const value of [5, undefined]) {
    assert.throws(
      () => prompt.link({ note: value } as Data),
      problem('prompt "full": cannot link "note": not a function'),
    );
  }
  assert.throws(
    () => prompt.link(5 as Data),
    problem('prompt "full": link takes an object of functions, found 5'),
  );
});

Deno.test("a plain gadget in tools is defined", () => {
  const prompt: AnyPrompt = definePrompt({ template: "x", tools: [{ name: "Plain", run: () => 1 }] });
  const [tool] = prompt.tools;
  assert.ok(typeof tool === "object" && "kind" in tool && Object.isFrozen(tool));
  assert.deepEqual(tool.input, { type: "object", properties: {}, additionalProperties: false });
});

Deno.test("contractHash: parsers say what they are, schemas what they take", () => {
  class Sub extends TagParser<never, "a"> {}
  class Described extends TagParser<never, "a"> {
    override describe() {
      return { mine: 1 };
    }
  }
  const spec = { requiredXmlTags: ["a"] } as const;
  const hash = (fields: Partial<PromptDef>) => definePrompt({ template: "x", ...fields }).info().contractHash;
  const byTags = hash({ parser: tags(spec) });
  assert.equal(hash({ parser: new Sub(spec) }), byTags);
  assert.notEqual(hash({ parser: new Described(spec) }), byTags);
  assert.notEqual(hash({ parser: tags(spec).refine(() => 1) }), byTags);
  assert.equal(hash({ parser: tags(spec).refine(() => 1) }), hash({ parser: tags(spec).refine(() => 2) }));
  const silent: Schema = { "~standard": { version: 1, vendor: "test", validate: (value) => ({ value }) } };
  const none = { addons: {}, format: null, mcp: [], parser: null, template: "x", tools: [] };
  const hashOf = (contract: object) => shortHash(JSON.stringify({ ...none, ...contract }));
  assert.equal(hash({ format: silent }), hashOf({ format: { standard: true } }));
  const object = z.object({ a: z.string() });
  const input = object["~standard"].jsonSchema.input({ target: "draft-2020-12" });
  assert.deepEqual(input.properties, { a: { type: "string" } });
  assert.equal(hash({ format: object }), hash({ format: input }));
  const gadget = { description: "", input: { standard: true }, name: "g" };
  assert.equal(hash({ tools: [defineGadget({ name: "g", input: silent })] }), hashOf({ tools: [gadget] }));
  assert.equal(
    hash({ format: { properties: { 10: {}, 9: {}, a: {} } } }),
    shortHash(
      JSON.stringify(none).replace('"format":null', '"format":{"properties":{"10":{},"9":{},"a":{}}}'),
    ),
  );
  assert.equal(hash({ handler: { onException: "x" }, metadata: { a: 1 }, path: "other" }), hash({}));
  assert.equal(hash({ tools: [search] }), hash({ tools: [search.link(() => 2)] }));
});

Deno.test("info: a parser that cannot say what it is, is an error of its prompt", () => {
  const cycle: unknown[] = [];
  cycle.push(cycle);
  const infoOf = (describe: () => unknown) => {
    const prompt = definePrompt({
      path: "p",
      template: "x",
      parser: { parse: (text: string) => text, describe },
    });
    return () => prompt.info();
  };
  const thrown = new Error("boom");
  const fails = infoOf(() => {
    throw thrown;
  });
  const failed = 'prompt "p": describe() of its parser failed: boom';
  assert.throws(fails, problem(failed));
  assert.throws(fails, (error) => error instanceof PromptError && error.cause === thrown);
  const no = (found: string) => problem(`prompt "p": describe() of its parser must give JSON: ${found}`);
  assert.throws(infoOf(() => 1n), no("found a bigint"));
  assert.throws(infoOf(() => ({ a: [1n] })), no("found a bigint at a/0"));
  assert.throws(infoOf(() => cycle), no("found a cycle at 0"));
  assert.equal(infoOf(() => undefined)().contractHash, infoOf(() => null)().contractHash); // as if it had none
});

const json = fc.jsonValue();

Deno.test("property: the hash of a contract does not depend on the order of keys, and does on every value", () => {
  const record = fc.dictionary(fc.string(), json, { maxKeys: 5 });
  fc.assert(fc.property(record, json, (addons, value) => {
    const { webSearch: _webSearch, computerUse: _computerUse, ...others } = addons;
    const hash = (addons: Record<string, unknown>) =>
      definePrompt({ template: "x", addons }).info().contractHash;
    const turned = Object.fromEntries(Object.entries(others).reverse());
    assert.equal(hash(turned), hash(others));
    if (!Object.hasOwn(others, "added") && value !== false) {
      assert.notEqual(hash({ ...others, added: value }), hash(others));
    }
  }));
});

Deno.test("property: the path is normal, and extending keeps all but what is given", () => {
  const segment = fc.string({ minLength: 1 }).filter((text) =>
    !text.includes("/") && text !== "." && text !== ".."
  );
  const slashes = fc.integer({ min: 1, max: 3 }).map((count) => "/".repeat(count));
  const path = fc.array(fc.tuple(segment, slashes), { minLength: 1, maxLength: 4 });
  const base = definePrompt(FULL);
  const { path: _path, ...rest } = snapshot(base);
  fc.assert(fc.property(path, fc.string(), (parts, text) => {
    const written = parts.flat().join("");
    const child = base.extend({ path: written, metadata: { text } });
    assert.equal(child.path, parts.map(([segment]) => segment).join("/"));
    assert.equal(child.extend({ path: child.path }).path, child.path);
    const { path: _path, ...found } = snapshot(child);
    assert.deepEqual(found, { ...rest, metadata: { text } });
  }));
});

const PARSED = { parser: new Told({}) };

Deno.test("handlers: the function gets the specification in force and the state", async () => {
  const seen: unknown[] = [];
  const handler: Handler = {
    onException(prompt, { exceptionRetriesCount }) {
      seen.push(prompt.path, prompt.rootPath, exceptionRetriesCount);
      return Promise.resolve("literal {text}");
    },
  };
  const task: AnyPrompt = definePrompt({ path: "task", template: "x", ...PARSED, handler });
  const { prompt, text } = await behind(task, [{ event: "onException", retry: 2 }]);
  assert.deepEqual(seen, ["task", "task", 1, "__task_exception_1", "task", 2]);
  assert.deepEqual([text, prompt.path], ["literal {text}", "__task_exception_2"]);
  assert.deepEqual([prompt(), prompt({})], ["literal {text}", "literal {text}"]);
  // What was sent as it is does not make a template that extends it literal.
  const extended: AnyPrompt = prompt.extend({ path: "e", template: "{a}" });
  assert.deepEqual([extended({ a: 1 }), extended.rootPath], ["1", "e"]);
  const first = definePrompt({
    path: "root",
    template: "x",
    tools: [defineGadget({ name: "t", description: "T" })],
    handler: { onInterrupt: () => task },
  });
  const foreign = await behind(first, [{ event: "onInterrupt" }, { event: "onException" }]);
  assert.deepEqual(seen.slice(-3), ["task", "root", 1]);
  assert.equal(foreign.prompt.rootPath, "root");
});

Deno.test("handlers: an object of a class keeps what it holds", async () => {
  class Fixer {
    #hints = ["first hint", "second hint"];
    tag = "answer";

    onException(prompt: AnyPrompt, { exceptionRetriesCount: n }: HandlerState) {
      return prompt.extend({
        path: "fix",
        template: `${this.#hints[n - 1]} for <${this.tag}>: {error_message}`,
      });
    }
  }
  const handler = new Fixer();
  const tools = [defineGadget({ name: "t", description: "T" })];
  const prompt: AnyPrompt = definePrompt({ path: "p", template: "x", handler, tools, ...PARSED });
  assert.equal(prompt.handler, handler);
  const fixed = await behind(prompt, [{ event: "onException", retry: 2 }]);
  assert.equal(fixed.text, "second hint for <answer>: E");
  const { text } = await behind(prompt.extend({ path: "q" }), [{ event: "onInterrupt" }]);
  assert.equal(text, 'Error: tool "t" has no implementation');
});

/** Why the handler of a turn gave nothing to go on with. */
async function handlerError(prompt: AnyPrompt, events: readonly HandlerEvent[]): Promise<AgentError> {
  const error = await behind(prompt, events).then(() => undefined, (error: unknown) => error);
  assert.ok(error instanceof AgentError && error.code === "handler", String(error));
  return error;
}

Deno.test("handlers: nothing to go on with ends the turn", async () => {
  const tools = [defineGadget({ name: "t", description: "T" })];
  const of = (answer: () => Data): AnyPrompt =>
    definePrompt({
      path: "task",
      template: "x",
      ...PARSED,
      tools,
      handler: { onException: answer, onInterruptFinal: answer },
    });
  const boom = new Error("boom");
  const wrongAnswers: readonly (readonly [answer: () => unknown, message: string, cause?: unknown])[] = [
    [() => null, "gave up"],
    [() => undefined, "must return a prompt, a string or null, found undefined"],
    [() => 5, "must return a prompt, a string or null, found 5"],
    [() => Promise.resolve({}), "must return a prompt, a string or null, found an object"],
    [() => () => 1, "must return a prompt, a string or null, found a function"],
    [() => Promise.reject(boom), "failed: boom", boom],
    [
      () => {
        throw "text";
      },
      "failed: text",
      "text",
    ],
  ];
  for (const [answer, message, cause] of wrongAnswers) {
    const error = await handlerError(of(answer), [{ event: "onException" }]);
    assert.equal(error.message, `handler onException of prompt "task" ${message}`);
    assert.equal(error.cause, cause);
  }
  const unrenderable = of(() => definePrompt({ path: "other", template: "{question}" }));
  assert.equal(
    (await handlerError(unrenderable, [{ event: "onInterruptFinal" }])).message,
    'handler onInterruptFinal of prompt "task" failed: prompt "other": missing variables: question',
  );
});

Deno.test("a prompt of another copy of Orrery is told apart", async () => {
  const foreign: AnyPrompt = Object.assign(() => "x", {
    ...definePrompt({ path: "copied", template: "x", ...PARSED }),
  }) as Data;
  const message = 'prompt "copied": it was defined by another copy of Orrery: import "orrery" from one place';
  assert.equal(
    (await handlerError(foreign, [{ event: "onException" }])).message,
    `handler onException of prompt "copied" failed: ${message}`,
  );
  const task = definePrompt({
    path: "task",
    template: "x",
    ...PARSED,
    handler: { onException: () => foreign },
  });
  const error = await handlerError(task, [{ event: "onException" }]);
  assert.equal(error.message, `handler onException of prompt "task" failed: ${message}`);
});
