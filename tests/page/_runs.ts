// What tests of runs do to a page.

import type { OpenPage, PageTest } from "./_browser.ts";

/** Starts what a page of the site has a form for. @param options.form default: the page that is shown. @returns the path of its page */
export async function started(
  { page }: OpenPage,
  { form, fields = {} }: { readonly form?: string; readonly fields?: Readonly<Record<string, string>> },
): Promise<string> {
  if (form !== undefined) await page.goto(new URL(form, page.url()).href);
  for (const [name, value] of Object.entries(fields)) await page.fill(`[name="in:/${name}"]`, value);
  await page.click("[data-run-form] button.main");
  await page.waitForURL(/\/(?:runs|conversations)\/\w+$/);
  return new URL(page.url()).pathname;
}

/** Waits until the run says of itself that it stands like this. */
export async function stands({ page }: OpenPage, status: string): Promise<void> {
  await page.locator(`[data-run-status]:text-is("${status}")`).waitFor();
}

/** On a desk in light, on a phone in the dark: nothing serious for whoever does not see it, and nothing wider than the window. */
export async function everyLook(test: PageTest, path: string, name: string): Promise<void> {
  await using desk = await test.visit(path, {});
  await desk.accessible();
  await desk.picture(`light_${name}`);
  await using phone = await test.visit(path, { size: "phone", dark: true });
  await phone.accessible();
  await phone.fits();
  await phone.picture(`phone_${name}`);
}
