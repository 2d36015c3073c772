// What modules of a project do with "orrery": its types are those of mod.ts and of lib/help/orrery.d.ts alike (tests/long/init_types_test.ts).

import { defineGadget, definePrompt, defineTactic, ParseError, tags } from "orrery";
import type { GadgetContext, Handler } from "orrery";

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true : false;
function same<A, B>(_isSame: Equal<A, B>): void {}

const page = defineGadget({
  name: "Page",
  description: "Gives a page.",
  input: {
    type: "object",
    properties: {
      url: { type: "string" },
      tries: { type: "integer", default: 3 },
      mode: { enum: ["text", "html"] },
      wait: { type: ["number", "null"] },
      tags: { type: "array", items: { type: "string" } },
      options: { type: "object", properties: { deep: { type: "boolean" } }, required: ["deep"] },
    },
    required: ["url"],
  },
  permissions: { net: ["example.com"], read: true },
  timeoutMs: 1000,
  idempotent: true,
  async run(input, context) {
    same<typeof input, {
      url: string;
      tries: number;
      mode?: "text" | "html";
      wait?: number | null;
      tags?: string[];
      options?: { deep: boolean };
    }>(true);
    const { signal, log }: GadgetContext = context;
    log(String(signal.aborted));
    return await Promise.resolve([input.url]);
  },
  format: (urls) => urls.join("\n"),
});
same<typeof page.name, "Page">(true);
page.link(({ url }) => url);
defineGadget({ name: "Bare", run: () => null });
// @ts-expect-error a gadget has a name
defineGadget({ description: "", run: () => null });
// @ts-expect-error permissions have six kinds
defineGadget({ name: "A", permissions: { disk: true } });
defineGadget({
  name: "A",
  input: { type: "object", properties: { a: { type: "string" } } },
  // @ts-expect-error there is no such property
  run: ({ b }) => b,
});

const handler: Handler = {
  onException: "No: {error_message}",
  onInterrupt: (prompt, { step }) => step > 2 ? null : prompt,
};
const task = definePrompt({
  path: "task",
  template: "Answer {question.text} for {who:>{width}} in {{braces}}.",
  parser: tags({ requiredXmlTags: ["answer"], mdTags: ["ts"], signalTags: ["DONE"] }).refine(
    ({ xmlTags, mdTags, signalTags }) => {
      if (signalTags.DONE) throw new ParseError("not done", [{ path: [0], message: "no" }]);
      return { answer: xmlTags.answer[0], blocks: mdTags.ts.length };
    },
  ),
  tools: ["ReadFile", page],
  mcp: [{ label: "a", url: "https://example.com" }],
  addons: { webSearch: true },
  handler,
});
task.render({ question: "?", who: "Ana", width: 3 });
// @ts-expect-error an argument is missing
task.render({ question: "?" });
task.parse("").then((value) => same<typeof value, { answer: string; blocks: number }>(true));
const short = task.extend({ path: "task/short", template: "Answer {question}" });
short.render({ question: "?" });
// @ts-expect-error the template is another one
short.render({ who: "Ana" });
short.parse("").then((value) => same<typeof value, { answer: string; blocks: number }>(true));
definePrompt({ path: "plain", template: "Hello" }).parse("").then(({ raw }) => raw.length);
// @ts-expect-error a key that no prompt has
definePrompt({ path: "a", template: "", parsr: null });

export const both = defineTactic({
  name: "both",
  agents: ["writer", "editor"],
  async call(topic: string, { agents, prompts, signal, step, now }) {
    const at = await step("at", () => now().getTime(), { input: topic });
    const reply = await agents.writer.open().ask(task, { question: topic, who: "", width: at }, { signal });
    same<typeof reply.parsed, { answer: string; blocks: number }>(true);
    // @ts-expect-error it names two agents
    agents.reader;
    const dialog = agents.editor.open().say(reply.parsed.answer).send(short, { question: prompts.keys()[0] })
      .fork({ keepLast: 1 });
    return (await dialog.call<string>()).parsed.length + reply.state.step;
  },
});
same<typeof both.agents, readonly string[]>(true);
both.run("heat").then((length) => same<typeof length, number>(true));
