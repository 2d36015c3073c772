// What is in the project, in a browser: lists, one thing, forms, the keyboard; in light, in dark, on a phone, and without scripts.

import assert from "node:assert/strict";
import { type OpenPage, type PageTest, pageTest } from "./_browser.ts";

const FILES = {
  "orrery.yaml": "models: { default: fast, aliases: { fast: script/echo } }\n",
  "notes.md": `---
title: Notes on a topic
description: Writes down what is known, in a few lines.
inputs:
  - { name: topic, description: About what. }
  - { name: tone, default: dry }
---

# Task {id=task}

Write about it.

## Result

@llm
block: task
`,
  "needing.md": `---
title: What is done elsewhere
permissions: { net: true }
---

# Task {id=task}

@shell
prompt: ls

@llm
block: task
save-to-file: out/notes.md
`,
  "broken.md": "# A\n\n@llm\nblck: a\n",
  "work/sum.calls": `!!!GADGET_START:Calculate:two
!!!ARG:expression
1 + 1
!!!GADGET_END
!!!GADGET_START:Calculate:four:two
!!!ARG:expression
{{results.two}} * 2
!!!GADGET_END
`,
  "help.agent.yml": `version: "0.1"
structure:
  id: help
  action:
    id: main
    chain:
      - { id: hello, message: { message: Hello. } }
      - { id: ask, message: { message: "What is it?", hold: true } }
      - { id: again, flow: { action: repeat } }
`,
  "prompts/greet.prompt.md": "---\ndescription: Greets somebody. Kindly.\n---\nHello {name}, it is {day}.\n",
  "prompts/team/plan.prompt": `---
input:
  schema: { count: integer, mode?(enum): [fast, slow] }
  default: { mode: fast }
---
Take {{count}} {{mode}}
`,
  "text.txt": "one\ntwo\nthree\n",
};

/** Every page of this part of the site, and its headline. */
const PAGES: readonly (readonly [path: string, heading: string])[] = [
  ["/", "project"],
  ["/agents", "Agents"],
  ["/agents/help.agent.yml", "help"],
  ["/documents", "Documents"],
  ["/documents/notes.md", "Notes on a topic"],
  ["/documents/broken.md", "broken.md"],
  ["/documents/needing.md", "What is done elsewhere"],
  ["/calls/work/sum.calls", "work/sum.calls"],
  ["/prompts", "Prompts"],
  ["/prompts/greet", "greet"],
  ["/prompts/team/plan", "team/plan"],
  ["/gadgets", "Gadgets"],
  ["/gadgets/EditFile", "EditFile"],
  ["/models", "Models"],
  ["/runs", "Runs"],
];

const nameOf = (path: string): string => path === "/" ? "overview" : path.slice(1).replaceAll(/\W/g, "_");

const SECTION_PLACE = "document.querySelector('.rail [aria-current]').getBoundingClientRect().toJSON()";

pageTest("pages: what is in the project", { files: FILES }, async (test) => {
  await test.step("each has its headline, nothing serious to a reader of another kind, a link to it", async () => {
    await using tab = await test.open("/");
    for (const [path, heading] of PAGES) {
      await tab.page.goto(test.origin + path);
      assert.equal(await tab.page.textContent("h1"), heading, path);
      await tab.accessible();
      await tab.fits();
      await tab.picture(`light_${nameOf(path)}`);
    }
  });
  await test.step("on a phone, in the dark, none is wider than its window", async () => {
    await using tab = await test.open("/", { size: "phone", dark: true });
    for (const [path] of PAGES) {
      await tab.page.goto(test.origin + path);
      await tab.fits();
      await tab.accessible();
      await tab.picture(`phone_${nameOf(path)}`);
      const { left, right } = await tab.page.evaluate(SECTION_PLACE) as { left: number; right: number };
      assert.ok(left >= 0 && right <= 375, `${path}: its section is at ${left} to ${right}, out of sight`);
    }
  });
  await test.step("a list is searched while it is typed, and by the server where no script runs", () =>
    searched(test));
  await test.step("the keyboard leads everywhere", () => keyboard(test));
  await test.step("the theme is kept", () => theme(test));
  await test.step("a document says what it needs, and whether it has that here", async () => {
    await using tab = await test.open("/documents/needing.md");
    const needs = await tab.page.locator(".needs li").allInnerTexts();
    assert.equal(needs.length, 3);
    assert.match(needs[0] ?? "", /^to connect to other machines \(line 3\) asked about\n/);
    assert.match(
      needs[1] ?? "",
      /^to run commands with \S+ \(line 8\) not granted here\n+.*grants of orrery\.yaml/,
    );
    assert.match(
      needs[2] ?? "",
      /^to write out\/notes\.md \(line 11\) asked about\n+.*--allow-write=out\/notes\.md/,
    );
  });
  await test.step("a graph is drawn when it is unfolded", () => graph(test));
  await test.step("what is not there is told as a page", async () => {
    await using tab = await test.open("/");
    tab.expectError(/404/);
    await tab.page.goto(`${test.origin}/gadgets/ReedFile`);
    assert.match(
      await tab.page.textContent("main") ?? "",
      /There is no gadget "ReedFile"\. Did you mean "ReadFile"\?/,
    );
    await tab.accessible();
    await tab.picture("light_not_found");
    await tab.page.goto(`${test.origin}/nowhere`); // no page at all: whoever looks sees one, a program gets JSON
    assert.equal(await tab.page.textContent("h1"), "Not Found");
    const told = await fetch(`${test.origin}/nowhere`);
    assert.equal(told.headers.get("content-type"), "application/problem+json");
    await told.body?.cancel();
  });
});

/** What is shown of a list. */
async function shownRows({ page }: OpenPage): Promise<readonly string[]> {
  return await page.locator("[data-row]:visible th").allTextContents();
}

async function searched(test: PageTest): Promise<void> {
  await using tab = await test.open("/gadgets");
  await tab.page.keyboard.press("/");
  await tab.page.keyboard.type("readf");
  assert.deepEqual(await shownRows(tab), ["ReadFile"]);
  assert.equal(await tab.page.textContent("[data-search-count]"), "1 found");
  await tab.page.keyboard.press("Escape");
  assert.ok((await shownRows(tab)).length > 10);
  await tab.page.keyboard.type("readf");
  await tab.page.keyboard.press("Enter");
  await tab.page.waitForURL("**/gadgets/ReadFile");
  await using plain = await test.open("/gadgets", { script: false });
  await plain.page.fill("#search", "readf");
  await plain.page.click("[data-search-button]");
  await plain.page.waitForURL("**/gadgets?q=readf");
  assert.deepEqual(await shownRows(plain), ["ReadFile"]);
}

async function keyboard(test: PageTest): Promise<void> {
  await using tab = await test.open("/");
  const { page } = tab;
  await page.keyboard.press("g");
  await page.keyboard.press("p");
  await page.waitForURL("**/prompts");
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  assert.equal(await page.evaluate("document.activeElement.textContent"), "team/plan");
  await page.keyboard.press("k");
  await page.keyboard.press("Enter");
  await page.waitForURL("**/prompts/greet");
  await page.keyboard.press("r");
  assert.equal(await page.evaluate("document.activeElement.name"), "in:/name");
  await page.keyboard.type("jg?"); // letters are letters there
  assert.equal(await page.inputValue("[name='in:/name']"), "jg?");
  await page.keyboard.press("Escape");
  await page.keyboard.press("?");
  await page.locator("dialog[open]").waitFor();
  await tab.accessible();
  await tab.picture("light_keys");
  await page.keyboard.press("Escape");
  await page.locator("dialog[open]").waitFor({ state: "detached" });
  for (const path of ["/prompts", "/models"]) { // whoever has only this key gets past the rail at once
    await page.goto(test.origin + path);
    await page.keyboard.press("Tab");
    assert.equal(await page.evaluate("document.activeElement.textContent"), "Skip to the content", path);
  }
}

async function theme(test: PageTest): Promise<void> {
  await using tab = await test.open("/");
  const { page } = tab;
  const ground = () => page.evaluate("getComputedStyle(document.documentElement).backgroundColor");
  const light = await ground();
  await page.click("[data-theme-button]");
  const dark = await ground();
  assert.notEqual(dark, light);
  await page.goto(`${test.origin}/models`);
  assert.match(await page.locator("tbody tr").first().textContent() ?? "", /^fastready default/); // before what has no key
  assert.equal(await page.getAttribute("html", "data-theme"), "dark"); // as the server made it: nothing flashes
  assert.equal(await ground(), dark);
  tab.expectError(/404/);
  for (const path of ["/gadgets/ReedFile", "/nowhere"]) {
    await page.goto(test.origin + path);
    assert.equal(await ground(), dark, path);
  }
  await tab.accessible();
  await tab.picture("chosen_dark_not_found");
  await page.goto(`${test.origin}/models`);
  await page.keyboard.press("t");
  assert.equal(await ground(), light);
}

async function graph(test: PageTest): Promise<void> {
  await using tab = await test.open("/agents/help.agent.yml");
  const { page } = tab;
  await page.click("summary:has-text('Graph')");
  await tab.until("document.querySelector('.graph img').naturalWidth > 50");
  await tab.accessible();
  await tab.picture("light_agent_graph");
  const filter = "getComputedStyle(document.querySelector('.graph img')).filter";
  assert.equal(await page.evaluate(filter), "none");
  await page.click("[data-theme-button]"); // its colours are made for paper
  assert.match(String(await page.evaluate(filter)), /invert/);
  await tab.picture("dark_agent_graph");
}

pageTest("pages: forms start runs", { files: FILES }, async (test) => {
  await test.step("a gadget: what is wrong stands beside its field, what is right is run", () =>
    gadget(test));
  await test.step("a gadget that is told as JSON", async () => {
    await using tab = await test.open("/gadgets/Calculate");
    await tab.page.click("text=Write it as JSON instead");
    await tab.page.fill("#json", '{"expression": "6 * 7"}');
    await tab.page.press("#json", "Control+Enter");
    await tab.page.waitForURL("**/runs/*");
    await tab.page.locator("text=42").first().waitFor();
  });
  await test.step("a prompt: its text with these values, then its run", () => prompt(test));
  await test.step("a document and a call file", () => files(test));
  await test.step("without a script", () => plain(test));
  await test.step("the runs are listed, and found by what they are", async () => {
    await using tab = await test.open("/runs");
    const { page } = tab;
    assert.ok((await shownRows(tab)).length >= 6);
    await page.selectOption("#kind", "document");
    await page.click("button:has-text('Show')");
    assert.equal(await page.locator(".list tbody tr").count(), 1);
    await tab.picture("light_runs_of_documents");
    await tab.accessible();
    await using phone = await test.open("/runs", { size: "phone" });
    await phone.fits();
    await phone.picture("phone_runs_some");
    await using overview = await test.open("/", { dark: true });
    await overview.accessible();
    await overview.picture("dark_overview_runs");
  });
});

async function gadget(test: PageTest): Promise<void> {
  await using tab = await test.open("/gadgets/ReadFile");
  const { page } = tab;
  await page.click("button:has-text('Call')");
  assert.equal(await page.textContent("#in_path-wrong"), "needs a value");
  assert.equal(await page.evaluate("document.activeElement.id"), "in_path");
  tab.expectError(/400/); // what the server refuses, the console tells
  await page.fill("#in_path", "text.txt");
  await page.fill("#in_from", "0");
  await page.click("button:has-text('Call')");
  await page.locator("#in_from-wrong:visible").waitFor();
  assert.match(await page.textContent("#in_from-wrong") ?? "", /1/);
  assert.equal(await page.inputValue("#in_path"), "text.txt"); // nothing is lost
  await tab.accessible();
  await tab.picture("light_form_wrong");
  await page.fill("#in_from", "2");
  await page.click("button:has-text('Call')");
  await page.waitForURL("**/runs/*");
  await page.locator("text=three").first().waitFor();
}

async function prompt(test: PageTest): Promise<void> {
  await using tab = await test.open("/prompts/greet");
  const { page } = tab;
  await page.fill("[name='in:/name']", "<b>Ada</b>");
  await page.fill("[name='in:/day']", "Monday");
  await page.click("text=Show its text");
  await page.locator("[data-rendered]:visible").waitFor();
  assert.equal(await page.textContent("[data-rendered]"), "Hello <b>Ada</b>, it is Monday.");
  await tab.picture("light_prompt_text");
  await tab.accessible();
  await page.click("button:has-text('Run')");
  await page.waitForURL("**/runs/*");
}

async function files(test: PageTest): Promise<void> {
  await using tab = await test.open("/documents/notes.md");
  const { page } = tab;
  await page.fill("[name='in:/topic']", "tea");
  await page.click("button:has-text('Run')");
  await page.waitForURL("**/runs/*");
  await page.goto(`${test.origin}/calls/work/sum.calls`);
  await page.click("button:has-text('Run')");
  await page.waitForURL("**/runs/*");
  await page.locator('.call-graph text:text-is("four")').waitFor();
}

async function plain(test: PageTest): Promise<void> {
  await using tab = await test.open("/gadgets/Calculate", { script: false });
  const { page } = tab;
  tab.expectError(/400/);
  await page.click("button:has-text('Call')");
  assert.match(await page.textContent("main") ?? "", /expression: needs a value/);
  await page.goBack();
  await page.fill("[name='in:/expression']", "6 * 7");
  await page.click("button:has-text('Call')");
  await page.waitForURL("**/runs/*");
  assert.match(await page.textContent("h1") ?? "", /./);
}
