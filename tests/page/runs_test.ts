// A run in a browser: begun by a form, watched while it goes on, answered, stopped, and looked at when it is over.

import assert from "node:assert/strict";
import { type OpenPage, type PageTest, pageTest } from "./_browser.ts";
import { cutConnection } from "./_cut_connection.ts";
import { everyLook, stands, started } from "./_runs.ts";
import { HOSTILE, VIEW_FILES } from "./_views_project.ts";

const DRAFT = "The lake is calm. No wind until noon; then rain.";
const BETTER = "Calm until noon, rain after it.";

/** What is shown in the parts of a run. */
async function shown({ page }: OpenPage, part: string): Promise<readonly string[]> {
  return await page.locator(
    `[data-run-part="${part}"]:visible .said-text, [data-run-part="${part}"]:visible pre`,
  )
    .allTextContents();
}

pageTest("runs: forms say what is wrong, and start what is right", { files: VIEW_FILES }, async (test) => {
  await test.step("a document: a value that is missing, a model that nobody knows", async () => {
    await using tab = await test.open("/documents/letter.md");
    const { page } = tab;
    tab.expectError(/40[04]|422/);
    await page.click("[data-run-form] button.main");
    assert.equal(await page.textContent("#in_place-wrong"), "needs a value");
    assert.equal(await page.evaluate("document.activeElement.id"), "in_place");
    await page.fill("#in_place", "Riva");
    await page.fill("#model", "script/nowhere.yml");
    await page.click("[data-run-form] button.main");
    await page.locator("#model-wrong:visible").waitFor();
    assert.match(await page.textContent("#model-wrong") ?? "", /nowhere\.yml/);
    assert.equal(await page.evaluate("document.activeElement.id"), "model");
    assert.equal(await page.inputValue("#in_place"), "Riva"); // nothing is lost
    await tab.accessible();
    await tab.picture("light_form_model_wrong");
  });
  await test.step("an agent: slots that are no JSON stand beside their field", async () => {
    await using tab = await test.open("/agents/guide.agent.yml", { dark: true });
    const { page } = tab;
    tab.expectError(/400/);
    await page.fill("#json", "{place: Riva}");
    await page.click("[data-run-form] button.main");
    await page.locator("#json-wrong:visible").waitFor();
    assert.match(await page.textContent("#json-wrong") ?? "", /JSON/);
    await tab.accessible();
    await tab.picture("dark_form_slots_wrong");
  });
  await test.step("a prompt, and a gadget, whose run has its name", async () => {
    await using tab = await test.open("/");
    await started(tab, { form: "/prompts/greet", fields: { name: "Ada" } });
    await stands(tab, "done");
    assert.equal(await tab.page.textContent("h1"), "greet");
    assert.deepEqual(await shown(tab, "result"), ["Hello there, how is the lake?", ""]);
    const gadget = await started(tab, { form: "/gadgets/Calculate", fields: { expression: "6 * 7" } });
    await stands(tab, "done");
    assert.equal(await tab.page.textContent("h1"), "Calculate");
    assert.equal((await shown(tab, "result"))[0]?.trim(), "42");
    await everyLook(test, gadget, "run_gadget");
  });
});

pageTest("runs: how one stands is the same word everywhere", { files: VIEW_FILES }, async (test) => {
  /** What lists say of a run; undefined where they do not have it. */
  const listed = async ({ page }: OpenPage, path: string, status: string): Promise<string | undefined> => {
    await page.goto(`${test.origin}/runs?status=${encodeURIComponent(status)}`);
    const row = page.locator(`.list tr:has(a[href="${path}"]) .badge`);
    return await row.count() === 0 ? undefined : await row.textContent() ?? "";
  };
  await test.step("a model that fails has failed, says why on top, and can be asked again", async () => {
    await using tab = await test.open("/prompts/greet");
    const { page } = tab;
    await page.fill("#model", "script/models/down.yml");
    const path = await started(tab, { fields: { name: "Ada" } });
    for (const _look of ["as it ends", "and later"]) {
      await stands(tab, "failed");
      await page.locator("[data-run-problem]:visible").waitFor();
      assert.match(await page.textContent("[data-run-problem]") ?? "", /too strange \(400\)/);
      await page.locator('[data-run-do="resume"]:visible').waitFor();
      await page.reload();
    }
    await tab.picture("light_run_failed");
    assert.equal(await listed(tab, path, ""), "failed");
    assert.equal(await listed(tab, path, "failed"), "failed");
    assert.equal(await listed(tab, path, "stopped"), undefined);
    await tab.picture("light_runs_states");
  });
  await test.step("a run that asks waits for a person, and so does an agent", async () => {
    await using tab = await test.open("/");
    const path = await started(tab, { form: "/calls/allow.calls" });
    await stands(tab, "waits for you");
    assert.equal(await listed(tab, path, "waits for you"), "waits for you");
    assert.equal(await listed(tab, path, "failed"), undefined);
    const talk = await started(tab, { form: "/agents/guide.agent.yml" });
    await stands(tab, "waits for you");
    assert.equal(await listed(tab, talk, "waits for you"), "waits for you");
    assert.equal(await listed(tab, talk, "held"), "waits for you"); // an address of before
  });
});

const THINKING = {
  ...VIEW_FILES,
  "models/think.yml": `- chunks: ${
    JSON.stringify([
      "<think>",
      "Is it ",
      `${HOSTILE} `,
      "calm?",
      "</think>",
      "It is calm, ",
      "says the lake.",
    ])
  }
  delayMs: 400
  repeat: true
`,
  "think.md": "# Task\n\n@llm\nprompt: Go\nmodel: script/models/think.yml\n",
};

pageTest("runs: what a model thinks is folded, above its answer", { files: THINKING }, async (test) => {
  await using tab = await test.open("/");
  const path = await started(tab, { form: "/documents/think.md" });
  const { page } = tab;
  const summary = page.locator("details.said > summary");
  await page.locator('details.said:not([open]) > summary:text-is("thinking\u2026")').waitFor();
  await tab.accessible();
  await tab.picture("light_run_thinking_folded");
  await summary.click();
  await page.locator("details.said[open] .said-text:visible").waitFor();
  await tab.until("document.querySelector('details.said .said-text').textContent.includes('<script>')");
  await tab.picture("light_run_thinking_open");
  await stands(tab, "done");
  assert.match(await summary.innerText(), /^thought for [\d.]+ m?s, \d+ characters$/);
  assert.equal(await page.locator("article.said .said-text").innerText(), "It is calm, says the lake.");
  await using phone = await test.open(path, { size: "phone", dark: true }); // whoever comes later
  await phone.page.locator("details.said:not([open])").waitFor();
  assert.match(await phone.page.locator("details.said > summary").innerText(), /^thought, \d+ characters$/);
  assert.equal(await phone.page.locator(".said").first().evaluate((said) => said.localName), "details");
  await phone.page.locator("details.said > summary").click();
  await phone.fits();
  await phone.accessible();
  await phone.picture("phone_run_thought");
  await phone.page.locator('.trace-row[data-kind="model"] summary').first().click();
  const traced = phone.page.locator('[data-title="thought"] details');
  assert.equal(await traced.evaluate((details) => details.hasAttribute("open")), false);
  assert.ok((await traced.textContent())?.includes(`Is it ${HOSTILE} calm?`));
});

pageTest("runs: a run is watched while it goes on", { files: VIEW_FILES }, async (test) => {
  await test.step("a document: its text comes piece by piece, and it grows", () => document(test));
  await test.step("calls: the graph fills", () => graph(test));
  await test.step("a connection that breaks again and again loses nothing, and repeats nothing", () =>
    cut(test));
  await test.step("a run is stopped, and goes on", () => stopped(test));
});

async function document(test: PageTest): Promise<void> {
  await using tab = await test.open("/");
  const path = await started(tab, { form: "/documents/letter.md", fields: { place: "Riva" } });
  const { page } = tab;
  const said = "(document.querySelector('.said-text')?.textContent ?? '')";
  await tab.until(`${said} !== "" && ${said} !== ${JSON.stringify(DRAFT)}`); // not all of it at once
  assert.ok(DRAFT.startsWith(String(await page.evaluate(said)).trim()));
  await page.locator('[data-run-part="document"] .merge').first().waitFor();
  await stands(tab, "running");
  assert.match((await shown(tab, "document"))[0] ?? "", new RegExp(`# Draft\\s+${DRAFT}`));
  await tab.picture("light_run_document_live");
  await tab.accessible();
  await using phone = await test.open(path, { size: "phone", dark: true });
  await phone.page.locator(".said").first().waitFor();
  await phone.fits();
  await phone.accessible();
  await phone.picture("phone_run_document_live");
  await stands(tab, "done");
  assert.match((await shown(tab, "result"))[0] ?? "", new RegExp(BETTER));
  assert.equal((await shown(tab, "document")).length, 2);
  await tab.picture("light_run_document_end");
  const live = await sameOf(tab);
  await stands(phone, "done");
  assert.deepEqual(await sameOf(phone), live); // whoever came later has seen the same
  await page.reload();
  await page.locator('[data-run-part="document"] .merge').nth(1).waitFor();
  assert.deepEqual(await sameOf(tab), live); // and whoever comes when it is over
  assert.ok(await page.locator(".trace-row").count() > 3);
  await everyLook(test, path, "run_document");
}

/** What is the same however a run was watched. */
async function sameOf(tab: OpenPage): Promise<unknown> {
  const parts = ["result", "text", "document", "graph"] as const;
  const texts: Record<string, unknown> = { tally: await tab.page.textContent("[data-run-tally]") };
  for (const part of parts) texts[part] = await shown(tab, part);
  const calls = tab.page.locator(".call-graph .call");
  texts.calls = await calls.evaluateAll((all) =>
    all.map((each) => [each.textContent, each.getAttribute("data-state")])
  );
  return texts;
}

async function graph(test: PageTest): Promise<void> {
  await using tab = await test.open("/", { dark: true });
  const { page } = tab;
  const path = await started(tab, { form: "/calls/live.calls" });
  const box = (id: string, state: string): Promise<void> =>
    page.locator(`.call-graph .call[data-state="${state}"]:has(text:text-is("${id}"))`).waitFor();
  await box("first", "running");
  await box("sum", "waiting");
  await box("missing", "failed");
  await box("told", "skipped");
  await tab.picture("dark_run_calls_live");
  await tab.accessible();
  await page.fill(".ask textarea", "40");
  await page.click(".ask button.main");
  await box("first", "done");
  await box("second", "running");
  await box("sum", "done");
  await stands(tab, "failed");
  assert.match(await page.textContent("[data-run-tally]") ?? "", /^5 calls: 3 ok, 1 failed, 1 skipped/);
  assert.match(await page.textContent('.run-rows [data-state="failed"]') ?? "", /nowhere\.txt/);
  await tab.accessible();
  await tab.picture("dark_run_calls_end");
  const live = await sameOf(tab);
  await page.reload();
  await page.locator(".call-graph").waitFor();
  assert.deepEqual(await sameOf(tab), live);
  await everyLook(test, path, "run_calls");
}

async function cut(test: PageTest): Promise<void> {
  await using connection = cutConnection(test.origin, { afterBytes: 400 });
  await using tab = await test.open(connection.origin);
  tab.expectError(/ERR_INCOMPLETE_CHUNKED_ENCODING|ERR_CONNECTION|Failed to load resource/);
  await started(tab, { form: "/documents/letter.md", fields: { place: "Riva" } });
  await tab.page.locator("[data-run-lost]:visible").first().waitFor();
  await tab.picture("light_run_lost");
  await stands(tab, "done");
  await tab.page.locator("[data-run-lost]").first().waitFor({ state: "hidden" });
  assert.deepEqual((await shown(tab, "text")).map((text) => text.trim()), [DRAFT, BETTER]);
  assert.equal((await shown(tab, "document")).length, 2);
  const seen = connection.streams.map((id) => Number(id ?? 0));
  assert.ok(seen.length > 3, `cut only ${seen.length} times`);
  assert.equal(seen[0], 0);
  assert.deepEqual(seen, seen.toSorted((a, b) => a - b)); // it never goes back
}

async function stopped(test: PageTest): Promise<void> {
  await using tab = await test.open("/");
  const { page } = tab;
  await started(tab, { form: "/documents/letter.md", fields: { place: "Riva" } });
  await page.locator(".said").first().waitFor();
  await page.click('[data-run-do="cancel"]');
  await stands(tab, "stopped");
  await page.locator('[data-run-do="cancel"]').waitFor({ state: "hidden" }); // as soon as the server has said so too
  await tab.accessible();
  await tab.picture("light_run_stopped");
  await page.click('[data-run-do="resume"]');
  await new Promise((r) => setTimeout(r, 4000));
  await tab.picture("light_run_resumed");
  await stands(tab, "done");
  assert.match((await shown(tab, "result"))[0] ?? "", new RegExp(BETTER));
}

/** Notes of each question that comes or goes what the keys would meet then, and what the mouse. */
const NOTE_ASKS = `globalThis.asksSeen = [];
new MutationObserver((changes) => {
  const isCard = (node) => node instanceof HTMLFormElement && node.matches("[data-ask]");
  if (!changes.some(({ addedNodes, removedNodes }) => [...addedNodes, ...removedNodes].some(isCard))) return;
  const buttons = [...document.querySelectorAll("[data-ask] button")];
  const under = (button) => {
    const { x, y, width, height } = button.getBoundingClientRect();
    return document.elementFromPoint(x + width / 2, y + height / 2);
  };
  asksSeen.push({
    focus: document.activeElement.matches("[data-ask]") ? "card" : document.activeElement.tagName,
    buttons: buttons.length,
    reached: buttons.filter((button) => under(button) === button).length,
  });
}).observe(document, { childList: true, subtree: true });`;

pageTest("runs: questions are answered", { files: VIEW_FILES }, async (test) => {
  await test.step("what is pressed as a question comes answers nothing", async () => {
    await using tab = await test.open("/");
    const { page } = tab;
    await tab.runFirst(NOTE_ASKS);
    await started(tab, { form: "/calls/allow.calls" });
    await page.locator(".ask").waitFor();
    assert.deepEqual(await page.evaluate("asksSeen"), [{ focus: "card", buttons: 2, reached: 0 }]);
    for (const key of ["Space", "Enter"]) await page.keyboard.press(key);
    await tab.until("[...document.querySelectorAll('.ask button')].every((button) => !button.inert)");
    for (const key of ["Space", "Enter"]) await page.keyboard.press(key);
    await tab.picture("light_run_ask_focus");
    assert.equal(await page.evaluate("document.activeElement.className"), "ask");
    await page.keyboard.press("Tab");
    assert.equal(await page.evaluate("document.activeElement.value"), "yes");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await stands(tab, "failed");
    await assert.rejects(test.project.read("out/saved.txt"));
  });
  await test.step("a question that moves to where an answered one stood is not answered by a second click", async () => {
    await using tab = await test.open("/");
    const { page } = tab;
    await tab.runFirst(NOTE_ASKS);
    const paths = [
      await started(tab, { form: "/calls/allow.calls" }),
      await started(tab, { form: "/calls/allow.calls" }),
    ];
    await page.locator(".ask").waitFor();
    await page.goto(`${test.origin}/asks`);
    await page.locator("button:text-is('Refuse')").first().click();
    await page.locator(".ask").nth(1).waitFor({ state: "detached" });
    assert.deepEqual(await page.evaluate("asksSeen.at(-1)"), { focus: "card", buttons: 2, reached: 0 });
    await page.click("button:text-is('Refuse')");
    for (const path of paths) {
      await page.goto(test.origin + path);
      await stands(tab, "failed");
    }
  });
  await test.step("a permission is given, with the keyboard alone", async () => {
    await using tab = await test.open("/");
    const { page } = tab;
    const path = await started(tab, { form: "/calls/allow.calls" });
    await page.locator(".ask").waitFor();
    assert.match(await page.textContent(".ask") ?? "", /out\/saved\.txt/);
    await everyLook(test, path, "run_asks");
    await page.locator("main").focus();
    while (await page.evaluate("document.activeElement.value !== 'yes'")) await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await stands(tab, "done");
    assert.equal(await page.locator(".ask").count(), 0);
    assert.equal(await test.project.read("out/saved.txt"), "kept");
  });
  await test.step("a permission is refused, on the page of all questions", async () => {
    await using tab = await test.open("/");
    const { page } = tab;
    await Deno.remove(`${test.project.folder}/out`, { recursive: true });
    const path = await started(tab, { form: "/calls/allow.calls" });
    await page.locator(".ask").waitFor();
    await everyLook(test, "/asks", "asks");
    await page.goto(`${test.origin}/asks`);
    assert.match(await page.textContent("nav [aria-current]") ?? "", /1 open/);
    await page.click("button:text-is('Refuse')");
    await page.locator("[data-no-asks]:visible").waitFor();
    await page.goto(test.origin + path);
    await stands(tab, "failed");
    await assert.rejects(test.project.read("out/saved.txt"));
  });
  await test.step("questions of a gadget: one of its choices, then a text, which are text", async () => {
    await using tab = await test.open("/", { dark: true });
    const { page } = tab;
    const path = await started(tab, { form: "/calls/questions.calls" });
    await page.locator(".ask button").first().waitFor();
    assert.equal(await page.textContent(".ask-question"), `Which one, ${HOSTILE}?`);
    assert.equal(await page.evaluate("document.activeElement.className"), "ask"); // nobody was typing
    await everyLook(test, path, "run_question");
    await page.click("button:text-is('<b>right</b>')");
    await page.locator(".ask textarea").waitFor();
    await tab.accessible();
    await page.fill(".ask textarea", HOSTILE);
    await page.click(".ask button:text-is('Answer')");
    await stands(tab, "done");
    assert.equal((await shown(tab, "result"))[0], HOSTILE);
    assert.equal(await page.evaluate("globalThis.broken"), undefined);
  });
});

pageTest(
  "runs: what a model, a file or a gadget says is text everywhere",
  { files: VIEW_FILES },
  async (test) => {
    const runs: string[] = [];
    await test.step("while it comes, and when it is over", async () => {
      await using tab = await test.open("/");
      for (const form of ["/documents/markup.md", "/calls/markup.calls"]) {
        runs.push(await started(tab, { form }));
        await tab.page.locator('[data-run-status]:text-matches("done|failed")').waitFor();
        await harmless(tab);
      }
      for (const name of [HOSTILE, "Ada"]) {
        runs.push(await started(tab, { form: "/prompts/greet", fields: { name } }));
        await stands(tab, "done");
      }
    });
    await test.step("on every page that shows it", async () => {
      const ids = runs.map((path) => path.split("/").at(-1));
      const shown = runs.slice(0, 3);
      const pages = [
        ...shown.slice(0, 2),
        ...shown.map((path) => `${path}/trace`),
        `/compare?a=${ids[2]}&b=${ids[3]}`,
        "/documents/markup.md",
        "/calls/markup.calls",
      ];
      for (const [index, path] of pages.entries()) {
        await using tab = await test.open(path, { size: "phone" });
        await tab.page.waitForLoadState("networkidle").catch(() => undefined);
        await tab.page.evaluate(OPEN_ALL);
        await harmless(tab);
        await tab.fits();
        await tab.accessible();
        await tab.picture(`phone_markup_${index}`);
      }
    });
  },
);

const OPEN_ALL = 'document.querySelectorAll("main details").forEach((each) => { each.open = true; })';

async function harmless({ page }: OpenPage): Promise<void> {
  await page.locator(`main :text("globalThis.broken=1")`).first().waitFor({ state: "attached" });
  assert.equal(await page.evaluate("globalThis.broken"), undefined);
  assert.equal(await page.locator('img[src="x"], main script').count(), 0);
}
