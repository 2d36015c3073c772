// research/agent/system, research/agent/task, research/agent/summarise
import { defineGadget, definePrompt, ParseError, tags } from "orrery";

const webSearch = defineGadget({
  name: "web_search",
  description: "Search the web for current information on a topic",
  input: {
    type: "object",
    properties: { query: { type: "string", description: "Search query string" } },
    required: ["query"],
  },
  run: ({ query }) => `[Search results for: ${query}]`,
});

const fetchUrl = defineGadget({
  name: "fetch_url",
  description: "Fetch the full text of a URL",
  input: {
    type: "object",
    properties: { url: { type: "string", description: "The URL to fetch" } },
    required: ["url"],
  },
  run: ({ url }) => `[Content of: ${url}]`,
});

// Declared here for the model to see; the tactic links it when it runs.
const saveNote = defineGadget({
  name: "save_note",
  description: "Save a research note to the session store",
  input: {
    type: "object",
    properties: {
      title: { type: "string", description: "Note title" },
      content: { type: "string", description: "Note content" },
    },
    required: ["title", "content"],
  },
});

/** Tag extraction, and a check that the confidence is one. */
const researchParser = tags({
  xmlTags: ["reasoning"],
  requiredXmlTags: ["answer", "confidence"],
}).refine((parsed) => {
  const raw = parsed.xmlTags.confidence[0].trim();
  const confidence = Number(raw);
  if (raw === "" || Number.isNaN(confidence)) {
    throw new ParseError(`<confidence> must be a number, got: ${JSON.stringify(raw)}`);
  }
  if (confidence < 0 || confidence > 1) {
    throw new ParseError(`<confidence> must be between 0 and 1, got ${confidence}`);
  }
  return { ...parsed, confidence };
});

export const system = definePrompt({
  path: "system",
  template: `You are a careful research assistant with access to web search.
Always verify claims with at least two sources before concluding.
Current date: {date}`,
  metadata: { role: "system" },
});

export const task = definePrompt({
  path: "task",
  template: `Research the following question thoroughly: {question}

Use your tools to gather information, then respond with:
<reasoning>your step-by-step research process</reasoning>
<answer>your final, sourced answer</answer>
<confidence>a number between 0 and 1</confidence>`,
  parser: researchParser,
  tools: [webSearch, fetchUrl, saveNote],
  metadata: { version: "1.2", author: "research-team" },
});

export const summarise = task.extend({
  path: "summarise",
  template: `Summarise the following research findings in 2-3 sentences: {findings}

<answer>your summary</answer>`,
  tools: [],
  parser: tags({ requiredXmlTags: ["answer"] }),
});
