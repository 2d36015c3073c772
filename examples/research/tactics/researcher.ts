import { defineTactic } from "orrery";
import type { summarise, task } from "../prompts/research/agent.ts";

export const researcher = defineTactic({
  name: "researcher",
  agents: ["researcher"],
  async call(question: string, { agents, prompts, signal, now, step }) {
    const dialog = agents.researcher.open({ date: now().toISOString().slice(0, 10) });
    const notes: string[] = [];
    const ask = prompts.get<typeof task>("research/agent/task").link({
      save_note: ({ title }: { title: string; content: string }) => {
        notes.push(title);
        return `Note '${title}' saved successfully.`;
      },
    }); // a copy: the registered prompt stays unlinked
    const { parsed } = await dialog.ask(ask, { question }, { signal });
    await step("notes", () => notes.length); // an effect of its own would stand here
    if (parsed.confidence >= 0.5) return parsed.xmlTags.answer[0];
    // low confidence: a second turn consolidates the findings
    const second = prompts.get<typeof summarise>("research/agent/summarise");
    const reply = await dialog.ask(second, { findings: parsed.xmlTags.answer[0] }, { signal });
    return reply.parsed.xmlTags.answer[0];
  },
});
