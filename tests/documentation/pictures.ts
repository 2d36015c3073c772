// The pictures of README.md, of one run: a recording that moves, and its trace. `deno task pictures` draws them into lib/help/.

import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";
import { PROJECT_ROOT } from "../_run.ts";
import { PICTURED_COMMAND, picturedRun } from "./pictured_run.ts";
import { runPicture } from "./run_picture.ts";

const THEMES = ["light", "dark"] as const;
const MARGIN = 20;

const folder = join(PROJECT_ROOT, "lib/help");
await using run = await picturedRun();
for (const theme of THEMES) {
  const picture = runPicture({ command: PICTURED_COMMAND, events: run.events }, theme);
  await Deno.writeTextFile(join(folder, `run_${theme}.svg`), picture);
}

const { code, stderr } = await run.project.run(["trace", run.id, "--html", "trace.html"]);
if (code !== 0) throw new Error(stderr);
const browser = await chromium.launch({
  executablePath: Deno.env.get("ORRERY_CHROMIUM") ?? "/usr/bin/chromium",
  args: ["--headless", "--no-sandbox", "--disable-gpu"],
});
try {
  for (const colorScheme of THEMES) {
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 }, colorScheme });
    await page.goto(pathToFileURL(join(run.project.folder, "trace.html")).href);
    const last = await page.locator(".trace-row").last().boundingBox();
    if (last === null) throw new Error("The trace has no rows");
    const height = Math.ceil(last.y + last.height + MARGIN);
    await page.screenshot({
      path: join(folder, `trace_${colorScheme}.png`),
      clip: { x: 0, y: 0, width: 1280, height },
    });
  }
} finally {
  await browser.close();
}
