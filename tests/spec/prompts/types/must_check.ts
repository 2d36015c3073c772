// What has to type-check (prompts.md 13 and 14); lines that start with `same<` say which type it is.
import { z } from "zod";
import { type AnyPrompt, type ArgsList, type ArgsOf, type CallState, defineGadget, definePrompt, type Handler, type JsonSchema, ParseError, type Parser, type Prompt, type PromptDef, type Raw, TagParser, tags, type ToolRef } from "../../../../mod.ts";

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true : false;
declare function same<A, B>(isSame: Equal<A, B>): void;
declare function outputOf<O>(prompt: Prompt<string, O>): O;
type Keys<Template extends string> = keyof ArgsOf<Template>;

// Variables are read off the template.
same<Keys<"{q} {a.b} {c[k]} {n:.2f} {s:>{w}} {t!j:x} {a}">, "q" | "a" | "c" | "n" | "s" | "w" | "t">(true);
same<Keys<"{{no}} {{{yes}}} }} {m[x:y]} {p[a.b].c[!]:{w}.{v}}">, "yes" | "m" | "p" | "w" | "v">(true);
same<Keys<"{größe} {a-b} {__proto__}">, "größe" | "a-b" | "__proto__">(true);
same<ArgsOf<"{q}">, { readonly q: unknown }>(true);
same<ArgsOf<"none {{here}}">, Readonly<Record<string, never>>>(true);
same<ArgsOf<string>, Readonly<Record<string, unknown>>>(true);

const task = definePrompt({ path: "task", template: "Q {question} in {language}" });
task({ question: "?", language: 1 });
task();
task.render({ question: null, language: undefined });
same<typeof task.template, "Q {question} in {language}">(true);
same<Awaited<ReturnType<typeof task.parse>>, Raw>(true);

const plain = definePrompt({ template: "no variables" });
plain();
plain({});
plain.render();

const text: string = Math.random() > 2 ? "a" : "{b}";
const computed = definePrompt({ template: text });
computed({ anything: 1 });
computed.render();

// Contracts.
const tagged = definePrompt({
  template: "x",
  parser: tags({ xmlTags: ["r"], requiredXmlTags: ["a"], mdTags: ["ts"], requiredMdTags: ["json"], signalTags: ["DONE"] }),
});
const result = outputOf(tagged);
same<typeof result.xmlTags, { r: string[]; a: [string, ...string[]] }>(true);
same<typeof result.mdTags, { ts: string[]; json: [string, ...string[]] }>(true);
same<typeof result.signalTags, { DONE: boolean }>(true);
const first: string = result.xmlTags.a[0];
const format = z.object({ n: z.number(), list: z.array(z.string()).default([]) });
const formatted = definePrompt({ template: "x", format });
same<ReturnType<typeof outputOf<Awaited<ReturnType<typeof formatted.parse>>>>, { n: number; list: string[] }>(true);
const byJson = definePrompt({ template: "x", format: { type: "object", properties: { n: { type: "integer" } } } });
same<Awaited<ReturnType<typeof byJson.parse>>, unknown>(true);
const words = definePrompt({ template: "x", parser: { parse: (text) => Promise.resolve(text.split(" ")) } });
same<Awaited<ReturnType<typeof words.parse>>, string[]>(true);
class Sub extends TagParser<never, "a"> {
  override parse(text: string) {
    return { ...super.parse(text), extra: 1 };
  }
}
const bySub = definePrompt({ template: "x", parser: new Sub({ requiredXmlTags: ["a"] }) });
const extra: number = outputOf(bySub).extra;

// Extending.
const other = tagged.extend({ path: "o", template: "Now {b}" });
other({ b: 1 });
same<typeof other.parse, typeof tagged.parse>(true);
same<Awaited<ReturnType<ReturnType<typeof extendedWith>["parse"]>>, unknown>(true);
const cleared = tagged.extend({ path: "c", parser: null });
same<Awaited<ReturnType<typeof cleared.parse>>, Raw>(true);
const reformed = tagged.extend({ path: "c", format });
same<Awaited<ReturnType<typeof reformed.parse>>, { n: number; list: string[] }>(true);
const swapped = formatted.extend({ path: "c", format: null, parser: words.parser });
same<Awaited<ReturnType<typeof swapped.parse>>, string[] | Raw>(false);
const kept = tagged.extend({ path: "k", parser: undefined, format: undefined });
same<typeof kept.parse, typeof tagged.parse>(true);
const ownRenderer = definePrompt({ template: "$x {y}", renderer: { render: (template) => template } });
ownRenderer({ x: 1 });
ownRenderer.extend({ path: "r", template: "{a} $b" })({ b: 1 });
declare function extendedWith(overrides: PromptDef & { path: string }): Prompt<string, unknown>;

// Gadgets and linking.
const search = defineGadget({ name: "search", description: "d", input: z.object({ q: z.string() }) });
const loose = defineGadget({ name: "loose", input: { type: "object" } });
const armed = definePrompt({ template: "x", tools: [search, loose, "Calculate"] });
armed.link({ search: ({ q }) => q.length });
armed.link({ search: ({ q }: { q: string }, { signal, deps, dialog }) => [q, signal.aborted, deps, dialog], loose: () => 1 });
armed.link({ loose: ({ any }: { any: string }) => any });
same<typeof search.name, "search">(true);
const later: AnyPrompt = armed;
later.link({ whatever: ({ title }: { title: string }) => title, other: (input) => input.x });

// Every prompt is an AnyPrompt, and keeps its arguments and output where they are asked for.
const all: readonly AnyPrompt[] = [task, plain, computed, tagged, formatted, other, ownRenderer, armed, bySub];
declare function ask<O, A>(prompt: Prompt<string, O, readonly ToolRef[], A>, ...args: ArgsList<A, { signal?: AbortSignal }>): O;
ask(task, { question: 1, language: 2 }, { signal: new AbortController().signal });
ask(plain);
ask(later, { anything: 1 });
same<ReturnType<typeof plain.parse>, Promise<Raw>>(true);
same<typeof firstOf, string>(true);
const firstOf = ask(tagged).xmlTags.a[0];
declare function get<P extends AnyPrompt = AnyPrompt>(path: string): P;
get<typeof task>("task")({ question: 1, language: 2 });
const wide: PromptDef = { template: "x" };
const fromWide = definePrompt(wide);
same<typeof fromWide.tools, readonly ToolRef[]>(true);
same<Awaited<ReturnType<typeof fromWide.parse>>, unknown>(true);

// Handlers.
const handler: Handler = {
  onException: (prompt, { exceptionRetriesCount: n, call }) =>
    n > 2 ? null : prompt.extend({ path: `__${prompt.rootPath}_${n}`, template: `${call?.name}: {error_message}` }),
  onInterrupt: async (_prompt, state) => await Promise.resolve(JSON.stringify(state.calls)),
  onInterruptFinal: "Stop after {step}.",
};
const mutable: Handler = { onException: (_prompt, state: CallState) => state.calls[0]?.id ?? null };

// A parser of one's own, a refined one, and the prompts of the complete example.
const own: Parser<number> = { parse: (text, ctx) => ctx?.prompt.path.length ?? text.length };
const researchParser = tags({ xmlTags: ["reasoning"], requiredXmlTags: ["answer", "confidence"] }).refine((parsed) => {
  const raw = parsed.xmlTags.confidence[0].trim();
  const confidence = Number(raw);
  if (raw === "" || Number.isNaN(confidence)) {
    throw new ParseError(`<confidence> must be a float, got: ${JSON.stringify(raw)}`);
  }
  return { ...parsed, confidence };
});
const saveNote = defineGadget({
  name: "save_note",
  description: "Save a research note to the session store",
  input: z.object({ title: z.string().describe("Note title"), content: z.string().describe("Note content") }),
});
const research = definePrompt({
  path: "task",
  template: `Research the following question thoroughly: {question}
<confidence>a float between 0 and 1</confidence>`,
  parser: researchParser,
  tools: [search, saveNote],
  metadata: { version: "1.2", author: "research-team" },
});
const summarise = research.extend({
  path: "summarise",
  template: `Summarise the following research findings in 2-3 sentences: {findings}

<answer>your summary</answer>`,
  tools: [],
  parser: tags({ requiredXmlTags: ["answer"] }),
});
const linked = get<typeof research>("research/agent/task").link({
  save_note: ({ title }: { title: string; content: string }) => `Note '${title}' saved successfully.`,
});
const confidence: number = ask(linked, { question: "?" }).confidence;
const answer: string = ask(summarise, { findings: "f" }).xmlTags.answer[0];
const schema: JsonSchema = { type: "object" };
definePrompt({ template: "x", format: schema, mcp: [{ label: "m", url: "u" }, { label: "n", command: "c", args: [] }] });

export { all, answer, cleared, confidence, extra, first, handler, kept, mutable, own, swapped };
