// What must not type-check: below each comment, and for the reason that it tells.

import { z } from "zod";
import { type ArgsList, defineGadget, definePrompt, type Prompt, tags, type ToolRef } from "../../../../mod.ts";

declare function ask<O, A>(prompt: Prompt<string, O, readonly ToolRef[], A>, ...args: ArgsList<A>): O;
const note = defineGadget({ name: "note", input: z.object({ title: z.string() }) });
const task = definePrompt({ path: "t", template: "{q} {{x}} {n:>{w}}", tools: [note, "Now"], parser: tags({ requiredXmlTags: ["a"] }) });
const plain = definePrompt({ template: "{{none}}" });

// @ts-expect-error: Property 'w' is missing
task({ q: 1, n: 2 });
// @ts-expect-error: 'x' does not exist in type
task({ q: 1, n: 2, w: 3, x: 4 });
// @ts-expect-error: Expected 1 arguments, but got 0
task.render();
// @ts-expect-error: Type 'number' is not assignable to type 'never'
plain({ x: 1 });
// @ts-expect-error: Type 'number' is not assignable to type 'never'
plain.render({ x: 1 });
// @ts-expect-error: Type 'string[]' is missing the following properties
task(["q"]);
// @ts-expect-error: Expected 2 arguments, but got 1
ask(task);
// @ts-expect-error: Property 'b' does not exist on type
ask(task, { q: 1, n: 2, w: 3 }).xmlTags.b;
// @ts-expect-error: Property 'xmlTags' does not exist on type 'Raw'
ask(plain).xmlTags;
// @ts-expect-error: Type 'number' is not assignable to type 'string'
definePrompt({ template: 3 });
// @ts-expect-error: Property 'template' is missing
definePrompt({ path: "p" });
// @ts-expect-error: Type 'number' is not assignable to type 'never'
definePrompt({ template: "x", paht: 1 });
// @ts-expect-error: Type '{ v: number; }' is not assignable to type 'never'
task.extend({ path: "p", metdata: { v: 1 } });
// @ts-expect-error: Property 'path' is missing
task.extend({ template: "x" });
// @ts-expect-error: 'q' does not exist in type
task.extend({ path: "p", template: "{other}" })({ q: 1 });
// @ts-expect-error: Property 'parse' is missing
definePrompt({ template: "x", parser: {} });
// @ts-expect-error: Type '() => number' is not assignable to type 'string
definePrompt({ template: "x", handler: { onException: () => 5 } });
// @ts-expect-error: 'onExeption' does not exist in type 'Handler'
definePrompt({ template: "x", handler: { onExeption: "x" } });
// @ts-expect-error: Property 'command' is missing
definePrompt({ template: "x", mcp: [{ label: "m" }] });
// @ts-expect-error: Type 'string' is not assignable to type 'undefined'
definePrompt({ template: "x", mcp: [{ label: "m", url: "u", command: "c" }] });
// @ts-expect-error: Type 'string' is not assignable to type 'boolean
definePrompt({ template: "x", addons: { webSearch: "yes" } });
// @ts-expect-error: 'nots' does not exist in type
task.link({ nots: () => 1 });
// @ts-expect-error: 'Now' does not exist in type
task.link({ Now: () => 1 });
// @ts-expect-error: Types of property 'title' are incompatible
task.link({ note: ({ title }: { title: number }) => title });
// @ts-expect-error: Cannot assign to 'path' because it is a read-only property
task.path = "other";
// @ts-expect-error: Type 'number' is not assignable to type 'string'
tags({ requiredXmlTags: [5] });
