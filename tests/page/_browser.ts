// Pages in a real browser: a server as its user starts it, and a headless Chromium for each file of tests. Any error on the console of a page fails
// the test. ORRERY_SCREENSHOTS names a folder for pictures.

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import axe from "axe-core";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { readUntil, type TestProject, testProject } from "../_project.ts";
import { served } from "../_served_project.ts";

/** The shell without a window does the same with half the work. */
const CHROMIUM = Deno.env.get("ORRERY_CHROMIUM") ??
  ["/usr/bin/chromium-headless-shell", "/usr/bin/chromium"].find((path) => existsSync(path)) ?? "";

const FLAGS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  // Each would start renderers for a tab that never comes, and for the lists of an address bar that nobody sees.
  "--disable-features=SpareRendererForSitePerProcess,WebUIOmniboxPopup,WebUIOmniboxAimPopup",
];

/** How a page is looked at. */
export interface PageLook {
  /** Default 1280 wide; `phone`: 375. */
  readonly size?: "desk" | "phone";
  /** Default false. */
  readonly dark?: boolean;
  /** Default true. */
  readonly script?: boolean;
  /** Default: no wish. */
  readonly reducedMotion?: boolean;
}

/** What a test of pages has. */
export interface PageTest {
  /** `http://127.0.0.1:PORT` */
  readonly origin: string;
  readonly project: TestProject;
  /** A tab with no cookies, at this path; at another place when it is a whole address. */
  open(path: string, look?: PageLook): Promise<OpenPage>;
  /** The tab that is kept for this look, gone to this path: for what is only looked at. */
  visit(path: string, look: PageLook): Promise<OpenPage>;
  /** Runs a part; a later one runs also when it fails. */
  step(name: string, work: () => Promise<void>): Promise<void>;
}

/** A tab. */
export interface OpenPage extends AsyncDisposable {
  readonly page: Page;
  /** Writes NAME.png below ORRERY_SCREENSHOTS, where that is set. */
  picture(name: string): Promise<void>;
  /** Waits until an expression is true in the page: `waitForFunction` would be stopped by the page's own policy. */
  until(expression: string): Promise<void>;
  /** Fails for what axe-core finds serious or critical. */
  accessible(): Promise<void>;
  /** Fails when the page is wider than its window. */
  fits(): Promise<void>;
  /** Runs a script before those of each page from here on. */
  runFirst(script: string): Promise<void>;
  /** From here on an error with these words is meant to be: a request that is refused is told on the console. */
  expectError(words: RegExp): void;
}

/** What the server is started with. */
export interface PageTestOptions {
  readonly files?: Readonly<Record<string, string>>;
  /** Behind `orrery serve --port 0 --no-token`. */
  readonly flags?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** A test in Chromium; says so where there is none. */
export function pageTest(
  name: string,
  options: PageTestOptions,
  work: (test: PageTest) => Promise<void>,
): void {
  Deno.test({
    name,
    // playwright-core keeps a timer and the pipes of its browser for a moment after its end
    sanitizeOps: false,
    sanitizeResources: false,
    async fn(t) {
      const why = whyNotHere();
      if (why !== undefined) return console.log(`not run here: ${why}`);
      await using project = await testProject(options.files ?? {});
      const env = { ...project.env, ...options.env };
      await using server = await served({ ...project, env }, ["--no-token", ...options.flags ?? []]);
      const browser = await (sharedBrowser ??= startBrowser());
      const step = async (what: string, part: () => Promise<void>): Promise<void> => {
        const fn = () => part().catch((error) => Promise.reject(toldWhole(error)));
        await t.step({ name: what, fn, sanitizeOps: false, sanitizeResources: false });
      };
      const urlOf = (path: string): string => new URL(path, server.origin).href;
      const open = (path: string, look: PageLook = {}): Promise<OpenPage> =>
        openTab(browser, { url: urlOf(path), look });
      await using kept = new KeptTabs(browser);
      const visit = (path: string, look: PageLook): Promise<OpenPage> => kept.visit(urlOf(path), look);
      await work({ origin: server.origin, project, open, visit, step });
    },
  });
}

/** What went wrong, and then the errors on the console: of the two together the name alone is shown. */
function toldWhole(error: unknown): unknown {
  return error instanceof SuppressedError
    ? new Error(`${messageOf(error.suppressed)}\n\nand then\n${messageOf(error.error)}`, {
      cause: error.suppressed,
    })
    : error;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.stack ?? error.message : String(error);
}

function whyNotHere(): string | undefined {
  if (Deno.version.deno.startsWith("2.6.")) return "playwright-core is tried with the current Deno only";
  return existsSync(CHROMIUM)
    ? undefined
    : "there is no /usr/bin/chromium-headless-shell and no /usr/bin/chromium; ORRERY_CHROMIUM may name another one";
}

interface TestServer extends AsyncDisposable {
  readonly origin: string;
}

/** Longer than it ever takes on a machine under load. */
const START_MS = 60_000;

/** `orrery serve` as a process that is killed in the end, when it has said its address. */
export async function startServer(
  project: TestProject,
  { port, token }: { readonly port: string; readonly token: string },
): Promise<TestServer> {
  const child = project.start(["serve", "--port", port, "--token", token]);
  const stop = async (): Promise<void> => {
    child.kill("SIGKILL");
    await child.status;
    await reader.cancel();
  };
  const reader = child.stdout.getReader();
  const errors = collect(child.stderr);
  await child.stdin.close();
  const timer = setTimeout(() => child.kill("SIGKILL"), START_MS);
  const said = await readUntil(reader, "\n").catch(String).finally(() => clearTimeout(timer));
  const origin = /http:\/\/[\w.\[\]:]+/.exec(said)?.[0];
  if (origin === undefined) {
    await stop().catch(() => undefined); // it may have ended by itself
    throw new Error(`orrery serve said no address: ${said}\n${await errors}`);
  }
  return {
    origin,
    async [Symbol.asyncDispose]() {
      await stop();
      await errors;
    },
  };
}

async function collect(stream: ReadableStream<Uint8Array>): Promise<string> {
  return await new Response(stream).text();
}

/** One for all tests, since its first page takes seconds. */
let sharedBrowser: Promise<Browser> | undefined;

Deno.test.afterAll(async () => await (await sharedBrowser)?.close());

function startBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: CHROMIUM, args: FLAGS, timeout: START_MS });
}

/** Tabs that nobody uses, as new: to open one starts a process, which takes longer than to look at a page. */
const freeTabs = new Map<string, Tab[]>();

/** A free tab, or a new one, at this address. It is free again at its end. */
async function openTab(
  browser: Browser,
  { url, look }: { readonly url: string; readonly look: PageLook },
): Promise<OpenTab> {
  const key = JSON.stringify(look);
  const tab = freeTabs.get(key)?.pop() ?? await newTab(browser, look);
  const leave = async (): Promise<void> => {
    const isNew = await tab.renew().catch(() => false);
    if (isNew) freeTabs.set(key, [...freeTabs.get(key) ?? [], tab]);
    else await tab.close();
  };
  try {
    await tab.begin(url);
  } catch (error) {
    await tab.close();
    throw error;
  }
  return {
    ...tab,
    async [Symbol.asyncDispose]() {
      try {
        tab.assertNoErrors();
      } finally {
        await leave();
      }
    },
  };
}

/** A tab for each look, which keeps it. */
class KeptTabs implements AsyncDisposable {
  readonly #browser: Browser;
  readonly #tabs = new Map<string, OpenTab>();

  constructor(browser: Browser) {
    this.#browser = browser;
  }

  async visit(url: string, look: PageLook): Promise<OpenPage> {
    const key = JSON.stringify(look);
    const kept = this.#tabs.get(key);
    const tab = kept ?? await openTab(this.#browser, { url, look });
    this.#tabs.set(key, tab);
    if (kept !== undefined) await tab.page.goto(url);
    return { ...tab, [Symbol.asyncDispose]: () => Promise.resolve(tab.assertNoErrors()) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const tab of this.#tabs.values()) await tab[Symbol.asyncDispose]();
  }
}

const UNTIL_MS = 15_000;

/** A tab, and what it has told on its console. */
interface Tab extends Omit<OpenPage, typeof Symbol.asyncDispose> {
  /** Fails for what was told since it was asked last, and was not meant to be. */
  assertNoErrors(): void;
  begin(url: string): Promise<void>;
  /** Leaves the page and makes the tab as it was; false where that cannot be. */
  renew(): Promise<boolean>;
  close(): Promise<void>;
}

type OpenTab = Tab & OpenPage;

const SIZES = { desk: { width: 1280, height: 900 }, phone: { width: 375, height: 812 } } as const;

async function newTab(
  browser: Browser,
  { size = "desk", dark = false, script = true, reducedMotion = false }: PageLook,
): Promise<Tab> {
  const context: BrowserContext = await browser.newContext({
    viewport: SIZES[size],
    colorScheme: dark ? "dark" : "light",
    javaScriptEnabled: script,
    reducedMotion: reducedMotion ? "reduce" : "no-preference",
    isMobile: size === "phone",
    hasTouch: size === "phone",
    locale: "en-GB",
    timezoneId: "UTC",
  });
  context.setDefaultTimeout(15_000);
  const page = await context.newPage();
  const errors: string[] = [];
  const expected: RegExp[] = [];
  page.on("console", (message) => {
    if (message.type() === "error") errors.push(message.text());
  });
  page.on("pageerror", (error) => errors.push(String(error)));
  let hasScripts = false;
  return {
    page,
    assertNoErrors() {
      const unexpected = errors.splice(0).filter((text) => !expected.some((words) => words.test(text)));
      assert.deepEqual(unexpected, [], "errors on the console");
    },
    async picture(name) {
      const folder = Deno.env.get("ORRERY_SCREENSHOTS") ?? "";
      if (folder !== "") await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true });
    },
    async until(expression) {
      const end = performance.now() + UNTIL_MS;
      while (await page.evaluate(`Boolean(${expression})`) !== true) {
        if (performance.now() > end) {
          throw new Error(`${page.url()}: not true after ${UNTIL_MS} ms: ${expression}`);
        }
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    },
    async accessible() {
      // By the debugger: the page's own policy does not forbid it.
      if (await page.evaluate("typeof axe") === "undefined") await page.evaluate(axe.source);
      const found: unknown = await page.evaluate(AXE_RUN);
      assert.deepEqual(found, [], `axe-core on ${page.url()}`);
    },
    async fits() {
      const { width } = SIZES[size]; // a phone makes its window as wide as the page: innerWidth would say nothing
      const widest: unknown = await page.evaluate(`(${WIDEST})(${width})`);
      assert.deepEqual(widest, [], `${page.url()}: wider than a window of ${width} px`);
    },
    async runFirst(script) {
      hasScripts = true;
      await page.addInitScript(script);
    },
    expectError: (words) => void expected.push(words),
    async begin(url) {
      errors.length = 0; // of what was under way when the last page was left
      expected.length = 0;
      await page.goto(url);
    },
    async renew() {
      if (hasScripts || context.pages().length > 1) return false;
      await page.goto("about:blank");
      await page.mouse.move(0, 0);
      await context.clearCookies();
      return true;
    },
    close: () => context.close(),
  };
}

/** Gives what stands out of a page that is wider than its window, the first five. */
const WIDEST = `(width) => {
  if (document.documentElement.scrollWidth <= width && innerWidth <= width) return [];
  const out = [...document.body.querySelectorAll("*")].filter((each) => each.getBoundingClientRect().right > width);
  return ["the page", ...out.slice(0, 5).map((each) => each.outerHTML.slice(0, 120))];
}`;

/** Gives a line for each finding, with the first element that has it. */
const AXE_RUN = `axe.run({ resultTypes: ["violations"], preload: false }).then(({ violations }) => violations
  .filter(({ impact }) => impact === "serious" || impact === "critical")
  .map(({ id, help, nodes }) => id + ": " + help + " at " + nodes[0].html + " " + nodes[0].failureSummary))`;
