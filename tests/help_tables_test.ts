// Tables of `lib/help/`: those of schemas are as the schema is now, the others have all that the code has.

import assert from "node:assert/strict";
import { join } from "node:path";
import { COMMANDS } from "../lib/cli/flags/flags.ts";
import { TOPICS } from "../lib/cli/help.ts";
import * as door from "../mod.ts";
import { ROUTES } from "../lib/server/route_table.ts";
import { EXIT, EXIT_OF_REASON } from "../lib/service/exit_code.ts";
import { orrery, PROJECT_ROOT } from "./_run.ts";
import { withFieldTables } from "./documentation/field_tables.ts";

Deno.test("every topic has its page with its fields as they are now, and no page is without a topic", async () => {
  const names = [...Deno.readDirSync(join(PROJECT_ROOT, "lib/help"))].map(({ name }) => name);
  const pages = names.filter((name) => name.endsWith(".md")).map((name) => name.slice(0, -3));
  assert.deepEqual(pages.sort(), Object.keys(TOPICS).sort());
  for (const name of pages) {
    const text = await page(name);
    assert.equal(text, withFieldTables(text), `${name}: deno task fields writes it anew`);
  }
});

Deno.test("orrery help shows the page of every topic, behind the help of the command where there is one of that name", async () => {
  for (const topic of Object.keys(TOPICS)) {
    const { code, stdout } = await orrery(["help", topic]);
    assert.equal(code, 0);
    assert.ok(stdout.endsWith(await page(topic)), topic);
    assert.equal(stdout.startsWith("# "), !Object.hasOwn(COMMANDS, topic), topic);
  }
  assert.equal(Object.keys(TOPICS).filter((topic) => Object.hasOwn(COMMANDS, topic)).join(), "runs,mcp");
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
  ) => [...cell.matchAll(/`([^`]+)`/g)].map(([, route]) => route));
  assert.deepEqual(rows.sort(), ROUTES.map(({ method, path }) => `${method} ${path}`).sort());
});

Deno.test("help exit-codes names every code, and every reason of a run that has one", async () => {
  const text = await page("exit-codes");
  assert.deepEqual(Object.values(EXIT).filter((code) => !text.includes(`\n| ${code} |`)), []);
  for (const [reason, code] of EXIT_OF_REASON) {
    assert.match(text, new RegExp(`^\\| \`${reason}\` \\| ${code} \\|`, "m"));
  }
});
