import fc from "fast-check";
import assert from "node:assert/strict";
import { z } from "zod";
import {
  type AnyPrompt,
  defineGadget,
  definePrompt,
  type HandlerState,
  ParseError,
  type PromptDef,
  PromptError,
  type Schema,
  TagParser,
  tags,
} from "../mod.ts";
import { TemplateError } from "../lib/parse/template.ts";
import { contractText } from "../lib/prompt/define_prompt.ts";
import type { HandlerEvent } from "../lib/prompt/handler.ts";
import { handlerChild, HandlerError } from "../lib/prompt/handler_child.ts";
import { isPrompt, partsOf } from "../lib/prompt/parts.ts";
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
    const { name: kind } = thrown;
    assert.equal(kind === "HandlerError" ? "AgentError" : kind, errorKind, name);
    if (thrown instanceof PromptError) assert.equal(thrown.code, code, name);
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

Deno.test("cases: hash", async (t) => {
  for (const { name, input, expected } of promptCases("hash")) {
    await t.step(name, () => {
      if (input.prompts !== undefined) {
        const infos = input.prompts.map((each: Data) => define(each).info());
        const same = (key: string) => infos[0][key] === infos[1][key];
        const found = { samePromptHash: same("promptHash"), sameContractHash: same("contractHash"), infos };
        return assert.deepEqual(found, expected);
      }
      const prompt = define(input.prompt);
      const contract = input.showContract ? { contract: contractText(partsOf(prompt)) } : {};
      assert.deepEqual({ info: prompt.info(), ...contract }, expected);
    });
  }
});

function stateOf(given: Partial<HandlerState> = {}): HandlerState {
  return {
    state: "exception",
    step: 0,
    exceptionRetries: {},
    exceptionRetriesCount: 0,
    interruptSteps: [],
    llmRecalls: {},
    maxExceptionRetry: 3,
    maxInterruptSteps: 5,
    calls: [],
    attempts: [],
    modelCalls: 1,
    ...given,
  };
}

interface Asked {
  readonly n?: number;
  readonly values?: Readonly<Record<string, unknown>>;
  readonly state?: HandlerState;
  readonly rootPath?: string;
}

const VALUES: Readonly<Record<HandlerEvent, Readonly<Record<string, unknown>>>> = {
  onException: { error_message: "E", retry_count: 1, max_retries: 3 },
  onInterrupt: { call_results: "R", step: 1, max_steps: 5 },
  onInterruptFinal: { step: 5, max_steps: 5 },
};

function child(event: HandlerEvent, spec: AnyPrompt, asked: Asked = {}) {
  const { n = 1, values = VALUES[event], state = stateOf(), rootPath = spec.rootPath } = asked;
  return handlerChild(event, { spec, rootPath, n, values, state });
}

Deno.test("cases: handlers", async (t) => {
  for (const { name, input, expected, ...failure } of promptCases("handlers")) {
    await t.step(name, () =>
      tryCase(name, failure, async () => {
        let spec = define(input.base);
        const found: Data[] = [];
        for (const { event, retry = 1, step = 1, error_message = "E", call_results = "R" } of input.events) {
          const values: Data = {
            onException: { error_message, retry_count: retry, max_retries: 3 },
            onInterrupt: { call_results, step, max_steps: 5 },
            onInterruptFinal: { step, max_steps: 5 },
          };
          const n = event === "onException" ? retry : step;
          const state = stateOf({ exceptionRetriesCount: retry });
          const rootPath = define(input.base).path;
          const { prompt, text } = await handlerChild(event, {
            spec,
            rootPath,
            n,
            values: values[event],
            state,
          });
          found.push({ text, ...snapshot(prompt), rootPath: prompt.rootPath });
          spec = prompt;
        }
        assert.deepEqual(found, expected);
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
  assert.ok(Object.isFrozen(prompt) && isPrompt(prompt) && typeof prompt === "function");
  for (const [key, value] of Object.entries(prompt)) assertFrozen(value, key);
  assertFrozen(prompt.info(), "info");
  definition.metadata = {};
  assert.ok(!Object.isFrozen(definition.mcp) && !Object.isFrozen(definition.format));
  assert.deepEqual(prompt.metadata, { list: [{ a: 1 }] });
  assert.throws(() => Object.assign(prompt, { template: "other" }), TypeError);
  assert.equal(prompt.name, "full");
  assert.ok(!isPrompt(() => 1) && !isPrompt({ kind: "prompt" }) && !isPrompt(null));
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
    assert.ok(error instanceof PromptError && error.cause instanceof TemplateError);
    assert.deepEqual([error.code, error.cause.line, error.cause.column], ["template", 2, 2]);
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
  const text = (fields: Partial<PromptDef>) =>
    contractText(partsOf(definePrompt({ template: "x", ...fields })));
  assert.match(text({ format: silent }), /"format":\{"standard":true\}/);
  assert.match(
    text({ format: z.object({ a: z.string() }) }),
    /"format":\{.*"properties":\{"a":\{"type":"string"\}\}/,
  );
  assert.match(text({ tools: [defineGadget({ name: "g", input: silent })] }), /"input":\{"standard":true\}/);
  assert.match(text({ format: { properties: { 10: {}, 9: {}, a: {} } } }), /\{"10":\{\},"9":\{\},"a":\{\}\}/);
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

Deno.test("handlers: the function gets the specification in force and the state", async () => {
  const seen: unknown[] = [];
  const prompt: AnyPrompt = definePrompt({
    path: "task",
    template: "x",
    handler: {
      onException(prompt, { exceptionRetriesCount }) {
        seen.push(prompt.path, prompt.rootPath, exceptionRetriesCount);
        return Promise.resolve("literal {text}");
      },
    },
  });
  const first = await child("onException", prompt, { state: stateOf({ exceptionRetriesCount: 1 }) });
  const second = await child("onException", first.prompt, {
    n: 2,
    state: stateOf({ exceptionRetriesCount: 2 }),
  });
  assert.deepEqual(seen, ["task", "task", 1, "__task_exception_1", "task", 2]);
  assert.deepEqual([second.text, second.prompt.path], ["literal {text}", "__task_exception_2"]);
  assert.deepEqual([second.prompt(), second.prompt({})], ["literal {text}", "literal {text}"]);
  // What was sent as it is does not make a template that extends it literal.
  const extended: AnyPrompt = second.prompt.extend({ path: "e", template: "{a}" });
  assert.deepEqual([extended({ a: 1 }), extended.rootPath], ["1", "e"]);
  const foreign = await child("onException", prompt, { rootPath: "root" });
  assert.deepEqual(seen.slice(-3), ["task", "root", 0]);
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
  const prompt = definePrompt({ path: "p", template: "x", handler });
  assert.equal(prompt.handler, handler);
  const state = stateOf({ exceptionRetriesCount: 2 });
  assert.equal((await child("onException", prompt, { state })).text, "second hint for <answer>: E");
  assert.equal((await child("onInterrupt", prompt.extend({ path: "q" }))).text, "R");
});

Deno.test("handlers: nothing to go on with is a HandlerError", async () => {
  const of = (answer: () => Data): AnyPrompt =>
    definePrompt({ path: "task", template: "x", handler: { onException: answer, onInterruptFinal: answer } });
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
    await assert.rejects(child("onException", of(answer)), (error: unknown) => {
      assert.ok(error instanceof HandlerError);
      assert.equal(error.message, `handler onException of prompt "task" ${message}`);
      assert.equal(error.cause, cause);
      return true;
    });
  }
  const unrenderable = of(() => definePrompt({ path: "other", template: "{question}" }));
  await assert.rejects(child("onInterruptFinal", unrenderable), {
    name: "HandlerError",
    message: 'handler onInterruptFinal of prompt "task" failed: prompt "other": missing variables: question',
  });
});

Deno.test("a prompt of another copy of Orrery is told apart", async () => {
  const foreign: AnyPrompt = Object.assign(() => "x", {
    ...definePrompt({ path: "copied", template: "x" }),
  }) as Data;
  assert.ok(isPrompt(foreign));
  const message = 'prompt "copied": it was defined by another copy of Orrery: import "orrery" from one place';
  assert.throws(() => partsOf(foreign), problem(message));
  await assert.rejects(child("onException", foreign), {
    name: "HandlerError",
    message: `handler onException of prompt "copied" failed: ${message}`,
  });
});
