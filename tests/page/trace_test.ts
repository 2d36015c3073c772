// The trace of a run in a browser: its timeline, two runs beside each other, and the file that opens without a server.

import assert from "node:assert/strict";
import { pathToFileURL } from "node:url";
import { providerServer, TEST_KEY } from "../_provider_server.ts";
import { pause } from "../_waiting.ts";
import { type OpenPage, type PageTest, pageTest } from "./_browser.ts";
import { everyLook, stands, started } from "./_runs.ts";
import { HOSTILE, VIEW_FILES, WIDE } from "./_views_project.ts";

const SECRET = "a-secret-that-nobody-sees";

pageTest("trace: a timeline with inputs, outputs, tokens, cost and time", {
  files: VIEW_FILES,
  env: { CHAT_KEY: TEST_KEY },
}, async (test) => {
  await using provider = providerServer([
    {
      parts: [{ text: ["Two files. "] }, {
        call: { name: "ReadFile", arguments: ['{"path":"markup.txt"}'] },
      }],
      usage: { input: 1200, output: 34 },
    },
    { parts: [{ text: ["It is markup."] }], usage: { input: 1300, output: 56 } },
  ]);
  await test.project.write(
    "../config/orrery/config.yaml", // the user's own: what a project has after the start is not accepted with it
    `models:
  providers: { chat: { type: openai, api: chat, baseURL: "${provider.url}/v1", apiKeyEnv: CHAT_KEY } }
  prices: { chat/test: { input: 10, output: 20 } }
`,
  );
  await test.project.write(
    "read.md",
    `# Task {id=task}\n\nRead it.\n\n@llm\nblock: task\nmodel: chat/test\ntools: ReadFile\nuse-header: "# Said"\n\n@return\nblock: said\n`,
  );
  await pause(1_100); // a server looks at its settings once a second, and it may have started a moment ago
  const path = { trace: "" };
  await test.step("a row of a model tells its tokens, its cost and its time", async () => {
    await using tab = await test.open("/");
    path.trace = `${await started(tab, { form: "/documents/read.md" })}/trace`;
    await stands(tab, "done");
    await tab.page.goto(test.origin + path.trace);
    const figure = (what: string) => tab.page.textContent(`.figures [data-what="${what}"] dd`);
    assert.deepEqual(
      await Promise.all(["Tokens in", "Tokens out", "Cost", "Model answers", "Calls", "Failed"].map(figure)),
      ["2,500", "90", "$0.0268", "2", "1", "0"],
    );
    const rows = tab.page.locator('.trace-row[data-kind="model"] summary');
    await rows.first().scrollIntoViewIfNeeded(); // waits for frames: what is not drawn yet has no text
    const words = (await rows.first().innerText()).replace(/\s+/g, " ");
    assert.match(words, /chat\/test.*1200 → in, 34 out|1200/);
    assert.match(words, /\$0\.0127/);
    assert.match(words, /\d ?m?s$/);
    await rows.first().click();
    const details = tab.page.locator('.trace-row[data-kind="model"] .trace-values').first();
    assert.match(await details.innerText(), /Read it\./);
    assert.match(await details.innerText(), /Two files\./);
    await tab.page.locator('.trace-row[data-kind="gadget"] summary').click();
    const gadget = tab.page.locator('.trace-row[data-kind="gadget"] .trace-values');
    assert.match(await gadget.innerText(), /markup\.txt/);
    assert.ok((await gadget.innerText()).includes(HOSTILE));
    await tab.accessible();
    await tab.picture("light_trace_open");
  });
  await test.step("in every look", () => everyLook(test, path.trace, "trace"));
  await test.step("a filter, folding, and keys", () => keys(test, path.trace));
});

async function keys(test: PageTest, path: string): Promise<void> {
  await using tab = await test.open(path);
  const { page } = tab;
  const shown = () => page.locator(".trace-row:visible").count();
  const at = () => page.evaluate("document.activeElement.closest('.trace-row')?.id");
  const all = await shown();
  await page.keyboard.press("/");
  await page.keyboard.type("two files");
  assert.ok(await shown() < all);
  assert.match(await page.textContent("[data-trace-count]") ?? "", / of \d+ lines/);
  await page.keyboard.press("Escape");
  assert.equal(await shown(), all);
  await page.locator("main").focus();
  await page.keyboard.press("j");
  assert.equal(await at(), "step-1");
  await page.keyboard.press("j");
  assert.equal(await at(), "step-2");
  await page.keyboard.press("k");
  await page.keyboard.press("Enter");
  assert.equal(await page.locator("#step-1 details[open]").count(), 1);
  await page.keyboard.press("h"); // closes
  assert.equal(await page.locator("#step-1 details[open]").count(), 0);
  await page.keyboard.press("h"); // folds
  assert.ok(await shown() < all);
  await page.keyboard.press("l");
  assert.equal(await shown(), all);
  const outline = await page.evaluate("getComputedStyle(document.activeElement).outlineStyle");
  assert.equal(outline, "solid"); // whoever has only keys sees where they are
  await page.click("[data-trace-failed]");
  assert.equal(await shown(), 0);
}

pageTest("trace: why a run failed, and long ones", { files: VIEW_FILES }, async (test) => {
  await test.step("what failed is open; the text has no holes where calls stood; nothing jumps", async () => {
    await using tab = await test.open("/");
    const path = await started(tab, { form: "/calls/spaced.calls" });
    await stands(tab, "failed");
    const { page } = tab;
    await tab.runFirst(SHIFTS);
    await page.goto(new URL(path, test.origin).href);
    await tab.until("document.querySelector('[data-run-late]') === null");
    assert.deepEqual(
      await page.locator("[data-trace-row]:has(details[open]) .trace-title").allTextContents(),
      [
        "ReadFile",
      ],
    );
    assert.match(await page.textContent('[data-trace-row] [data-title="error"] pre') ?? "", /nowhere\.txt/);
    assert.equal(await page.textContent(".said-text"), "Before.\n\nAfter.");
    const shift = Number(await page.evaluate("globalThis.shift"));
    assert.ok(shift < 0.05, `the page moved by ${shift}`);
    await tab.picture("light_trace_failed");
  });
  await test.step("1,500 lines are filtered at once", async () => {
    await using tab = await test.open("/");
    const { page } = tab;
    const path = await started(tab, { form: "/calls/long.calls" });
    await stands(tab, "done");
    await page.goto(new URL(`${path}/trace`, test.origin).href);
    const took = Number(await page.evaluate(FILTERED));
    assert.match(await page.textContent("[data-trace-count]") ?? "", /^11 of 1500 lines$/);
    assert.ok(took < 1500, `it took ${took} ms`); // where lines were list items: 4,000
  });
});

/** Adds up how far the page moves by itself, as browsers count it. */
const SHIFTS = `globalThis.shift = 0;
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) if (!entry.hadRecentInput) globalThis.shift += entry.value;
}).observe({ type: "layout-shift", buffered: true });`;

/** Gives how long the page takes to show what fits, ms. */
const FILTERED = `(() => {
  const field = document.querySelector("[data-trace-filter]");
  document.body.getBoundingClientRect();
  const begun = performance.now();
  field.value = "call:sum_77";
  field.dispatchEvent(new Event("input", { bubbles: true }));
  document.body.getBoundingClientRect();
  return performance.now() - begun;
})()`;

pageTest("trace: two runs beside each other", { files: VIEW_FILES }, async (test) => {
  const ids: string[] = [];
  await test.step("chosen by a form; what differs is shown, and what is the same can be left out", async () => {
    await using tab = await test.open("/");
    const { page } = tab;
    for (const place of ["Riva", "Malcesine"]) {
      ids.push(
        (await started(tab, { form: "/documents/letter.md", fields: { place } })).split("/").at(-1) ?? "",
      );
      await stands(tab, "done");
    }
    await page.click("a:text-is('Compare')");
    await page.waitForURL("**/compare?a=*");
    assert.equal(await page.inputValue("#a"), ids[1]);
    await page.selectOption("#a", ids[0] ?? "");
    await page.selectOption("#b", ids[1] ?? "");
    await page.click("main button:text-is('Compare')");
    await page.locator("[data-compare-row]").first().waitFor();
    const rows = page.locator("[data-compare-row]:visible");
    const all = await rows.count();
    await page.click("[data-compare-changed]");
    const changed = await rows.count();
    assert.ok(changed > 0 && changed < all, `${changed} of ${all}`);
    await rows.locator("summary").last().click();
    await page.locator(".diff >> visible=true").first().waitFor();
    const lines = await page.locator(".diff:visible [data-sign]").allTextContents();
    assert.ok(lines.some((line) => line.startsWith("-") && line.includes("Riva")), lines.join("|"));
    assert.ok(lines.some((line) => line.startsWith("+") && line.includes("Malcesine")));
    await tab.accessible();
    await tab.picture("light_compare_open");
  });
  await test.step("in every look", () => everyLook(test, `/compare?a=${ids[0]}&b=${ids[1]}`, "compare"));
  await test.step("what only one of them has is shown too", async () => {
    await using tab = await test.open("/");
    const other = await started(tab, { form: "/documents/markup.md", fields: {} });
    await stands(tab, "done");
    const { page } = tab;
    await page.goto(`${test.origin}/compare?a=${ids[0]}&b=${other.split("/").at(-1)}`);
    const alone = page.locator("[data-compare-row][data-change='only-a']", { hasText: "rain after it" })
      .last();
    await alone.locator("summary").click();
    const values = alone.locator(".compare-values");
    assert.match(await values.innerText(), /^The other run has no such step\./);
    assert.ok(await values.locator("pre[aria-label$='of the first run']").count() > 0);
    assert.equal(await values.locator("pre[aria-label$='of the second run']").count(), 0);
    await tab.fits();
    await tab.accessible();
    await tab.picture("light_compare_alone");
  });
  await test.step("a run that is not there", async () => {
    await using tab = await test.open("/");
    tab.expectError(/404/);
    await tab.page.goto(`${test.origin}/compare?a=${ids[0]}&b=nowhere`);
    assert.match(await tab.page.textContent("main") ?? "", /nowhere/);
    await tab.accessible();
  });
});

pageTest("trace: a file that opens without a server", {
  files: {
    ...VIEW_FILES,
    "secret.calls": "!!!GADGET_START:ReadFile:file\n!!!ARG:path\nsecret.txt\n!!!GADGET_END\n",
    "secret.txt": `${SECRET}\n${HOSTILE}\n${WIDE}`,
  },
}, async (test) => {
  const { project } = test;
  const file = `${project.folder}/trace.html`;
  await test.step("it is the same page, and asks nobody for anything", async () => {
    const env = { OPENAI_API_KEY: SECRET };
    const run = await project.run(["run", "secret.calls"], { env });
    assert.equal(run.code, 0, run.stderr);
    const id = await project.newest();
    const made = await project.run(["trace", id, "--html", "trace.html"], { env });
    assert.deepEqual([made.code, made.stdout, made.stderr], [0, "", ""]);
    assert.ok(!(await project.read("trace.html")).includes(SECRET));
    for (
      const [name, look] of [["light", {}], ["dark", { dark: true }], ["phone", { size: "phone" }]] as const
    ) {
      await using tab = await test.open(pathToFileURL(file).href, look);
      const asked: string[] = [];
      tab.page.on("request", (request) => asked.push(request.url()));
      await tab.page.reload();
      await opened(tab);
      await tab.fits();
      await tab.accessible();
      await tab.picture(`${name}_trace_file`);
      assert.deepEqual(asked, [pathToFileURL(file).href]);
    }
    await using plain = await test.open(pathToFileURL(file).href, { script: false });
    await plain.page.click(".trace-row summary");
    await plain.page.locator(".trace-row >> text=secret.txt").first().waitFor();
  });
  await test.step("the page of the run gives the same file", async () => {
    await using tab = await test.open(`/runs/${await project.newest()}/trace`);
    const waiting = tab.page.waitForEvent("download");
    await tab.page.click("a:text-is('Save as a file')");
    const download = await waiting;
    assert.match(download.suggestedFilename(), /^trace-\w+\.html$/);
    const saved = await Deno.readTextFile(await download.path());
    assert.equal(saved, await project.read("trace.html"));
  });
});

async function opened({ page }: OpenPage): Promise<void> {
  await page.keyboard.press("j");
  await page.keyboard.press("l"); // the script is there
  await page.locator(".trace-row details[open] pre").first().waitFor();
  const text = await page.locator("main").innerText();
  assert.ok(text.includes("<script>globalThis.broken=1</script>"));
  assert.equal(await page.evaluate("globalThis.broken"), undefined);
  assert.equal(await page.locator("img, main pre script").count(), 0);
}
