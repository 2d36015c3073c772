// Tables of `lib/help/`: those of schemas are as the schema is now, the others have all that the code has.

import assert from "node:assert/strict";
import { join } from "node:path";
import * as door from "../mod.ts";
import { routesOf } from "./_routes.ts";
import { served } from "./_served_project.ts";
import { orrery, PROJECT_ROOT } from "./_run.ts";
import { withFieldTables } from "./documentation/field_tables.ts";

const TOPICS =
  "calls documents conversations prompts gadgets permissions models runs http mcp scale library config testing exit-codes"
    .split(" ");

Deno.test("every topic has its page with its fields as they are now, and no page is without a topic", async () => {
  const names = [...Deno.readDirSync(join(PROJECT_ROOT, "lib/help"))].map(({ name }) => name);
  const pages = names.filter((name) => name.endsWith(".md")).map((name) => name.slice(0, -3));
  assert.deepEqual(pages.sort(), TOPICS.toSorted());
  const { stdout: help } = await orrery(["help"]);
  const named = help.slice(help.indexOf("\nTopics, "), help.indexOf("\nFlags:"));
  assert.deepEqual([...named.matchAll(/^ {2}([\w-]+) {2,}/gm)].map(([, topic]) => topic), TOPICS);
  for (const name of pages) {
    const text = await page(name);
    assert.equal(text, await withFieldTables(text), `${name}: deno task fields writes it anew`);
  }
});

Deno.test("orrery help shows the page of every topic, behind the help of the command where there is one of that name", async () => {
  for (const topic of TOPICS) {
    const { code, stdout } = await orrery(["help", topic]);
    assert.equal(code, 0);
    assert.ok(stdout.endsWith(await page(topic)), topic);
    assert.equal(stdout.startsWith("# "), topic !== "runs" && topic !== "mcp", topic);
  }
});

const page = (name: string) => Deno.readTextFile(join(PROJECT_ROOT, "lib/help", `${name}.md`));

Deno.test("help library names everything that is exported", async () => {
  const text = await page("library");
  assert.deepEqual(Object.keys(door).filter((name) => !text.includes(`\`${name}\``)), []);
});

Deno.test("help http names every route, and no other", async () => {
  const text = await page("http");
  const rows = [...text.matchAll(/^\| ((?:`(?:GET|POST|DELETE) [^`]+`(?: · )?)+) \|/gm)].flatMap((
    [, cell = ""],
  ) => [...cell.matchAll(/`([^`]+)`/g)].map(([, route = ""]) => route.replace("+}", "}")));
  await using server = await served({});
  const routes = (await routesOf(server)).map(({ method, path }) => `${method.toUpperCase()} ${path}`);
  assert.deepEqual(rows.sort(), routes.sort());
});

Deno.test("help exit-codes names every code, and every reason of a run that has one", async () => {
  const text = await page("exit-codes");
  const codes = [0, 1, 2, 4, 5, 6, 7, 124, 130];
  assert.deepEqual(codes.filter((code) => !text.includes(`\n| ${code} |`)), []);
  const reasons = {
    ...{ config: 2, contract: 4, permission: 5, turns: 6, tokens: 6, cost: 6, time: 6, provider: 7 },
    ...{ timeout: 124, interrupted: 130, journal: 1, diverged: 1, unverified: 1 },
  };
  for (const [reason, code] of Object.entries(reasons)) {
    assert.match(text, new RegExp(`^\\| \`${reason}\` \\| ${code} \\|`, "m"));
  }
});
