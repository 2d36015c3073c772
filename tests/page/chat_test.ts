// A conversation with an agent in a browser: begun, had over several turns, stopped, taken up again.

import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { type OpenPage, type PageTest, pageTest } from "./_browser.ts";
import { everyLook, stands } from "./_runs.ts";
import { HOSTILE, VIEW_FILES } from "./_views_project.ts";

const GREETING = "Hello there, how is the lake?";

/** Who said what, from the first on. */
async function log({ page }: OpenPage): Promise<readonly string[]> {
  return await page.locator(".chat-message").evaluateAll((all) =>
    all.map((each) =>
      `${each.getAttribute("data-role")}: ${each.querySelector(".chat-text")?.textContent?.trim()}`
    )
  );
}

async function begun(test: PageTest, tab: OpenPage): Promise<string> {
  const { page } = tab;
  await page.goto(`${test.origin}/agents/guide.agent.yml`);
  await page.fill("#json", '{"place": "Riva"}');
  await page.click("[data-run-form] button.main");
  await page.waitForURL(/\/conversations\/\w+$/);
  await stands(tab, "waits for you");
  return new URL(page.url()).pathname;
}

/** An answer that is on its way, and not yet there. */
const OPEN_TEXT = "(document.querySelector('.chat-message[data-open] .chat-text')?.textContent ?? '').trim()";

pageTest("chat: a conversation with an agent", { files: VIEW_FILES }, async (test) => {
  await test.step("several turns with the keyboard; the answer comes piece by piece, a reload keeps it", () =>
    turns(test));
  await test.step("a turn is stopped, and tried again", () => stopped(test));
  await test.step("a page that is opened while a turn goes on shows its end", () => joined(test));
  await test.step("the last turn is taken back", () => takenBack(test));
  await test.step("files are chosen, dropped and shown", () => files(test));
});

async function turns(test: PageTest): Promise<void> {
  await using tab = await test.open("/");
  const { page } = tab;
  const path = await begun(test, tab);
  assert.deepEqual(await log(tab), ["agent: Who are you?"]);
  assert.match(await page.textContent("[data-chat-slots]") ?? "", /"conversation\.place": "Riva"/);
  assert.equal(await page.evaluate("document.activeElement.id"), "say"); // one can type at once
  await page.keyboard.type("Ada");
  await page.keyboard.press("Shift+Enter");
  await page.keyboard.type(HOSTILE);
  await page.keyboard.press("Enter");
  await tab.until(`${OPEN_TEXT} !== "" && ${OPEN_TEXT} !== ${JSON.stringify(GREETING)}`);
  await stands(tab, "running");
  await tab.accessible();
  await tab.picture("light_chat_live");
  await stands(tab, "waits for you");
  const first = [
    "agent: Who are you?",
    `user: Ada\n${HOSTILE}`,
    `agent: ${GREETING}`,
    "agent: Is there more?",
  ];
  assert.deepEqual(await log(tab), first);
  assert.match(await page.textContent("[data-chat-slots]") ?? "", /"conversation\.greeting": "Hello there/);
  await page.reload();
  await stands(tab, "waits for you");
  assert.deepEqual(await log(tab), first);
  await page.keyboard.type("Yes");
  await page.keyboard.press("Enter");
  await page.locator(".chat-message >> text=Anything else?").waitFor();
  const texts = await log(tab);
  assert.equal(texts.length, 7);
  assert.ok(texts[5]?.startsWith(`agent: ${HOSTILE}`));
  assert.equal(await page.evaluate("globalThis.broken"), undefined);
  assert.equal(await page.locator('img[src="x"], main script').count(), 0);
  await stands(tab, "waits for you");
  await everyLook(test, path, "chat");
  await page.fill("#say", "No");
  await page.click("button:text-is('Send')");
  await stands(tab, "done");
  assert.equal((await log(tab)).at(-1), "agent: Goodbye.");
  assert.equal(await page.isVisible("[data-chat-form]"), false);
  await everyLook(test, path, "chat_completed");
  await page.click("a:text-is('Trace')");
  await page.locator(".trace-row").first().waitFor();
  await everyLook(test, `${new URL(page.url()).pathname}`, "chat_trace");
}

async function stopped(test: PageTest): Promise<void> {
  await using tab = await test.open("/", { dark: true });
  const { page } = tab;
  await begun(test, tab);
  await page.keyboard.type("Ada");
  await page.keyboard.press("Enter");
  await tab.until(`${OPEN_TEXT} !== ""`);
  await page.click('[data-chat-do="cancel"]');
  await stands(tab, "stopped");
  assert.match(await page.textContent("[data-run-problem]") ?? "", /interrupted/);
  assert.equal(await page.isVisible('[data-chat-do="cancel"]'), false);
  assert.equal((await log(tab))[1], "user: Ada"); // what was said is not gone
  await tab.accessible();
  await tab.picture("dark_chat_stopped");
  await page.reload();
  await stands(tab, "stopped");
  assert.deepEqual(await log(tab), ["agent: Who are you?", "user: Ada"]);
  await page.click('[data-chat-do="retry"]');
  await stands(tab, "waits for you");
  assert.equal(await page.isVisible("[data-run-problem]"), false);
  const said = ["agent: Who are you?", "user: Ada", `agent: ${GREETING}`, "agent: Is there more?"];
  assert.deepEqual(await log(tab), said);
  await page.reload();
  await stands(tab, "waits for you");
  assert.deepEqual(await log(tab), said);
}

async function joined(test: PageTest): Promise<void> {
  await using tab = await test.open("/");
  const { page } = tab;
  const path = await begun(test, tab);
  await using other = await test.open(path);
  await page.keyboard.type("Ada");
  await page.keyboard.press("Enter");
  await stands(other, "running"); // it was begun there
  await page.reload();
  await stands(tab, "waits for you");
  await stands(other, "waits for you");
  await page.locator(".chat-message >> text=Is there more?").waitFor();
  assert.deepEqual(await log(tab), await log(other));
  assert.equal((await log(tab)).length, 4);
  await other.page.fill("#say", "Yes"); // whoever has only looked on can go on
  await other.page.keyboard.press("Enter");
  await other.page.locator(".chat-message >> text=Anything else?").waitFor();
}

async function takenBack(test: PageTest): Promise<void> {
  await using tab = await test.open("/");
  const { page } = tab;
  const path = await begun(test, tab);
  await page.keyboard.type("Ada");
  await page.keyboard.press("Enter");
  await page.locator(".chat-message >> text=Is there more?").waitFor();
  await stands(tab, "waits for you");
  await page.click('[data-chat-do="back"]');
  await page.waitForURL((url) => url.pathname !== path);
  await stands(tab, "waits for you");
  assert.deepEqual(await log(tab), ["agent: Who are you?"]);
}

async function files(test: PageTest): Promise<void> {
  await using tab = await test.open("/");
  const { page } = tab;
  await begun(test, tab);
  const picture = Buffer.from("iVBORw0KGgo=", "base64");
  await page.setInputFiles("[type=file]", [
    { name: "dot.png", mimeType: "image/png", buffer: picture },
    { name: "notes.txt", mimeType: "text/plain", buffer: Buffer.from("It is Ada.") },
  ]);
  await tab.picture("light_chat_files");
  await page.fill("#say", "Who is it?");
  await page.keyboard.press("Enter");
  await stands(tab, "waits for you");
  const said = 'user: Who is it?\n\n<file name="notes.txt">\nIt is Ada.\n</file>';
  for (const isNew of [false, true]) {
    if (isNew) await page.reload();
    await stands(tab, "waits for you");
    assert.equal((await log(tab))[1], said);
    assert.equal(await page.textContent(".chat-files"), "dot.png");
  }
  await tab.accessible();
  await tab.picture("light_chat_with_files");
  assert.equal(await page.inputValue("[type=file]"), "");
  // A file that is dropped is chosen.
  const transfer = await page.evaluateHandle(
    "(() => { const dropped = new DataTransfer(); dropped.items.add(new File([new Uint8Array([80, 75, 3, 4, 0])], 'x.zip')); return dropped; })()",
  );
  await page.dispatchEvent("[data-chat-form]", "drop", { dataTransfer: transfer });
  await page.fill("#say", "And this?");
  tab.expectError(/400/);
  await page.click("button:text-is('Send')");
  await page.locator("[data-run-problem]:not([hidden])").waitFor();
  assert.match(
    await page.textContent("[data-run-problem]") ?? "",
    /"x\.zip" is neither text in UTF-8 nor png/,
  );
  assert.equal(await page.inputValue("#say"), "And this?");
  assert.match(await page.inputValue("[type=file]"), /x\.zip$/);
  assert.equal((await log(tab)).filter((each) => each.startsWith("user: And")).length, 0);
}
