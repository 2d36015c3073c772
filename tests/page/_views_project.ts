// A project whose runs take long enough to be watched, and whose texts would like to be markup.

/** What a model, a file or a person may say: wherever it is shown, it is these letters. */
export const HOSTILE = `<img src=x onerror="globalThis.broken=1"><script>globalThis.broken=1</script>`;

/** A word, a table and code that are wider than a phone. */
export const WIDE = `${"Donaudampfschifffahrtsgesellschaft".repeat(4)}

| ${"column | ".repeat(20)}
| ${"--- | ".repeat(20)}

    const line = "${"0123456789".repeat(12)}";
`;

/** Files of the project. */
export const VIEW_FILES: Readonly<Record<string, string>> = {
  "orrery.yaml": "models: { default: script/models/live.yml }\n",
  "models/live.yml": `- when: Draft
  chunks: ["The lake ", "is calm. ", "No wind ", "until noon; ", "then rain."]
  delayMs: 350
  repeat: true
- when: Improve
  chunks: ["Calm until noon, ", "rain after it."]
  delayMs: 2000
  repeat: true
- when: Greet
  chunks: ["Hello ", "there, ", "how is ", "the lake?"]
  delayMs: 300
  repeat: true
- when: Markup
  text: ${JSON.stringify(`${HOSTILE}\n\n${WIDE}`)}
  repeat: true
- text: A plain answer.
  repeat: true
`,
  "models/down.yml": "- error: { status: 400, message: too strange }\n  repeat: true\n",
  "letter.md": `---
title: A letter
inputs:
  - { name: place, description: "Where it is written." }
  - { name: days, default: 2, description: "For how long." }
---

# Task {id=task}

The weather at {{place}} for {{days}} days.

@llm
prompt: Draft it
block: task
use-header: "# Draft"

@llm
prompt: Improve it
use-header: "# Better"

@return
block: better
`,
  "markup.md": `# Task {id=task}

${HOSTILE}

@llm
prompt: Markup
block: task
use-header: "# Said"

@return
block: said
`,
  "live.calls": `A question, a pause, and what comes of them.
!!!GADGET_START:AskUser:first
!!!ARG:question
How much?
!!!GADGET_END
!!!GADGET_START:Wait:second:first
!!!ARG:seconds
1.5
!!!GADGET_END
!!!GADGET_START:Calculate:sum:first,second
!!!ARG:expression
{{results.first}} + {{results.second}}
!!!GADGET_END
!!!GADGET_START:ReadFile:missing
!!!ARG:path
nowhere.txt
!!!GADGET_END
!!!GADGET_START:Template:told:missing
!!!ARG:template
{{missing}}
!!!GADGET_END
`,
  "spaced.calls": `Before.

!!!GADGET_START:Now:first
!!!GADGET_END

!!!GADGET_START:Now:second
!!!GADGET_END

After.

!!!GADGET_START:ReadFile:gone
!!!ARG:path
nowhere.txt
!!!GADGET_END

`,
  "long.calls": Array.from(
    { length: 1500 },
    (_, index) => `!!!GADGET_START:Calculate:sum_${index}\n!!!ARG:expression\n${index} + 1\n!!!GADGET_END\n`,
  ).join(""),
  "markup.txt": `${HOSTILE}\n${WIDE}\n`,
  "markup.calls": `${HOSTILE}
!!!GADGET_START:ReadFile:file
!!!ARG:path
markup.txt
!!!GADGET_END
!!!GADGET_START:ReadFile:gone
!!!ARG:path
<img src=x onerror=alert(1)>
!!!GADGET_END
`,
  "allow.calls": `!!!GADGET_START:WriteFile:save
!!!ARG:path
out/saved.txt
!!!ARG:content
kept
!!!GADGET_END
`,
  "questions.calls": `!!!GADGET_START:AskUser:which
!!!ARG:question
Which one, ${HOSTILE}?
!!!ARG:choices
["left", "<b>right</b>"]
!!!GADGET_END
!!!GADGET_START:AskUser:why:which
!!!ARG:question
Why?
!!!GADGET_END
`,
  "prompts/greet.prompt.md": "---\ndescription: Greets somebody.\n---\nGreet {name}.\n",
  "guide.agent.yml": `version: "0.1"
structure:
  id: guide
  action:
    id: main
    chain:
      - { id: name?, message: { message: "Who are you?", hold: true } }
      - { id: said, llm: { prompts: [ { user: "Greet {{place}}." } ], store: { slot: { name: greeting } } } }
      - { id: more?, message: { message: "Is there more?", hold: true } }
      - { id: visits, counter: { slot: { name: visits } } }
      - { id: markup, llm: { prompts: [ { user: "Markup" } ], store: { slot: { name: markup } } } }
      - { id: last?, message: { message: "Anything else?", hold: true } }
      - { id: bye, message: { message: "Goodbye." } }
      - { id: end, flow: { action: end } }
`,
};
