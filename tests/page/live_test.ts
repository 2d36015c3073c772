// Pages that are alive: what begins, ends or asks elsewhere is seen on each of them, and so is a server that was started again.

import assert from "node:assert/strict";
import { type OpenPage, type PageTest, pageTest, startServer } from "./_browser.ts";
import { stands, started } from "./_runs.ts";
import { VIEW_FILES } from "./_views_project.ts";

/** Begins a run as a program does. @returns its id */
async function begun({ origin }: PageTest, file: string): Promise<string> {
  const answer = await fetch(`${origin}/v1/runs`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ file, ask: true }),
  });
  const { id } = await answer.json();
  return id;
}

async function answered({ origin }: PageTest, run: string, answer: unknown): Promise<void> {
  const said = await fetch(`${origin}/v1/runs/${run}/answers`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(answer),
  });
  assert.equal(said.status, 200, await said.text());
}

const QUESTION = "A question waits: ";

/** What the page tells of questions elsewhere; the empty text when there are none. */
async function told({ page }: OpenPage): Promise<string> {
  return (await page.locator("[data-waiting]:visible").allTextContents()).join("");
}

/** How many, as the rail has it. */
const count = (what: string): string =>
  `(document.querySelector('.rail :not([hidden]) > [data-count="${what}"]')?.textContent ?? "0")`;

pageTest("live: what goes on is seen on every page", { files: VIEW_FILES }, async (test) => {
  await test.step("lists, badges and titles follow; a question is told everywhere but where it stands", async () => {
    await using overview = await test.open("/");
    await using runs = await test.open("/runs?kind=calls");
    await using models = await test.open("/models", { dark: true });
    await using asks = await test.open("/asks");
    const id = await begun(test, "allow.calls");
    await using own = await test.open(`/runs/${id}`);
    await own.page.locator(".ask").waitFor();
    for (const tab of [overview, runs, models, asks]) {
      await tab.until(`${count("asks")} === "1" && ${count("active")} === "1"`);
      assert.match(await tab.page.title(), /^\(1\) \w/);
    }
    await overview.page.locator(`.list a[href="/runs/${id}"]`).waitFor();
    await runs.page.locator(`.list a[href="/runs/${id}"]`).waitFor();
    await asks.page.locator(`form[data-ask-run="${id}"]`).waitFor();
    for (const tab of [overview, runs, models]) {
      assert.match(await told(tab), new RegExp(`^${QUESTION}.*out/saved\\.txt`, "s"));
      await tab.accessible();
    }
    await models.picture("dark_live_question");
    await overview.picture("light_live_overview");
    assert.deepEqual([await told(asks), await told(own)], ["", ""]);
    await using late = await test.open("/documents", { size: "phone" });
    assert.match(await told(late), new RegExp(`^${QUESTION}`)); // before any script
    await late.fits();
    await late.picture("phone_live_question");
    await using still = await test.open("/documents", { script: false });
    assert.match(await told(still), new RegExp(`^${QUESTION}`));
    await models.page.click("[data-waiting] a");
    await models.page.waitForURL(`**/runs/${id}`);
    await answered(test, id, { ask: "a1", allow: false });
    for (const tab of [overview, runs, asks, late]) {
      await tab.until(`${count("asks")} === "0" && ${count("active")} === "0"`);
      assert.doesNotMatch(await tab.page.title(), /^\(/);
      assert.equal(await told(tab), "");
    }
    await overview.page.locator(`.list tr:has(a[href="/runs/${id}"]) .badge:text-is("failed")`).waitFor();
    await asks.page.locator("[data-no-asks]:visible").waitFor();
    assert.equal(await asks.page.locator(".ask").count(), 0);
  });
  await test.step("an answer that is being typed is kept when another question comes, and goes", async () => {
    await using tab = await test.open("/asks");
    const { page } = tab;
    const first = await begun(test, "live.calls");
    await page.locator(".ask textarea").click();
    await page.keyboard.type("4");
    const second = await begun(test, "live.calls");
    await page.locator(".ask").nth(1).waitFor();
    await page.keyboard.type("2");
    await answered(test, second, { ask: "a1", text: "1" });
    await page.locator(".ask").nth(1).waitFor({ state: "detached" });
    assert.equal(await page.inputValue(`form[data-ask-run="${first}"] textarea`), "42");
    await page.click(".ask button:text-is('Answer')");
    await page.locator("[data-no-asks]:visible").waitFor();
  });
  await test.step("whoever looks elsewhere is told, where that was allowed", async () => {
    await using tab = await test.open("/models");
    await tab.runFirst(`globalThis.notified = [];
globalThis.Notification = class {
  static permission = "granted";
  constructor(title, options) { notified.push([title, options.body]); }
};
document.hasFocus = () => false;`);
    await tab.page.reload();
    await tab.until(`${count("active")} === "0"`);
    await new Promise((resolve) => setTimeout(resolve, 1000)); // it has to know how it stood before
    const id = await begun(test, "allow.calls");
    await tab.until("notified.length === 1");
    assert.match(
      String(await tab.page.evaluate("notified[0].join()")),
      /^A question waits,.*out\/saved\.txt/s,
    );
    await answered(test, id, { ask: "a1", allow: false });
  });
  await test.step("a browser may have more pages open than a server has connections for it", async () => {
    await using tab = await test.open("/");
    const pages = [tab.page];
    while (pages.length < 9) {
      const page = await tab.page.context().newPage();
      await page.goto(`${test.origin}/runs`);
      pages.push(page);
    }
    const id = await begun(test, "allow.calls");
    for (const page of pages) await page.locator(`.list a[href="/runs/${id}"]`).waitFor();
    await pages[0]?.goto(`${test.origin}/models`); // another one follows from here on
    await answered(test, id, { ask: "a1", allow: false });
    for (const page of pages.slice(1)) {
      await page.locator(`.list tr:has(a[href="/runs/${id}"]) .badge:text-is("failed")`).waitFor();
    }
  });
});

const TOKENS = ["a-token-of-sixteen-letters", "another-token-of-many-letters"] as const;

/** What is told on a page, part by part. */
async function notes({ page }: OpenPage): Promise<readonly string[]> {
  return await page.locator("main .note:visible").allInnerTexts();
}

pageTest("live: a server that was killed and started again", { files: VIEW_FILES }, async (test) => {
  const serve = async (token: string, port: string) => await startServer(test.project, { port, token });
  const logIn = async ({ page }: OpenPage, token: string): Promise<void> => {
    await page.fill("#token", token);
    await page.click("button:text-is('Open')");
  };
  const running = async (tab: OpenPage): Promise<void> => {
    await started(tab, { form: "/documents/letter.md", fields: { place: "Riva" } });
    await tab.page.locator(".said").first().waitFor();
  };
  /** It stands still, and one thing is told. */
  const lost = async (tab: OpenPage): Promise<void> => {
    await tab.page.locator("[data-run-lost]:visible").waitFor();
    await stands(tab, "not known"); // the stream of the run; what is told may have come of the project's
    const tally = (): Promise<string | null> => tab.page.textContent("[data-run-tally]");
    const before = await tally();
    await new Promise((resolve) => setTimeout(resolve, 700));
    assert.equal(await tally(), before);
    assert.deepEqual(await notes(tab), ["The connection is lost; it is being made again."]);
  };
  await test.step("with the same token its pages go on by themselves, with another one they lead to the login and back", async () => {
    const first = await serve(TOKENS[0], "0");
    const { port } = new URL(first.origin);
    await using tab = await test.open(`${first.origin}/documents/letter.md`);
    const { page } = tab;
    tab.expectError(/Failed to load resource|ERR_/);
    assert.equal(new URL(page.url()).pathname, "/login");
    await logIn(tab, "another-token-that-is-wrong");
    await tab.accessible();
    await logIn(tab, TOKENS[0]);
    await page.waitForURL("**/documents/letter.md");
    await running(tab);
    await first[Symbol.asyncDispose]();
    await lost(tab);
    await tab.picture("light_run_server_lost");
    {
      await using _second = await serve(TOKENS[0], port);
      await stands(tab, "stopped");
      await tab.until(`document.querySelector("[data-run-lost]").textContent.includes("started again")`);
      assert.deepEqual(await notes(tab), ["The server was started again."]);
      await tab.picture("light_run_server_again");
      await page.click('[data-run-do="resume"]');
      await stands(tab, "done");
      await running(tab);
    }
    await lost(tab);
    await using _third = await serve(TOKENS[1], port);
    const at = new URL(page.url()).pathname;
    await page.locator("[data-run-lost] a").waitFor();
    assert.deepEqual(await notes(tab), ["The server was started again. Log in"]);
    await stands(tab, "not known");
    await tab.accessible();
    await tab.picture("light_run_server_other");
    await page.click("[data-run-lost] a");
    await logIn(tab, TOKENS[1]);
    await page.waitForURL(`**${at}`);
    await stands(tab, "stopped");
  });
});
