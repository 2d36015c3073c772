import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { filePath, fileUrl, fileUrlsOf } from "../lib/core/file_url.ts";

/** What URLs take for their own, drop, or escape, between ordinary letters. */
const name = fc.array(
  fc.oneof(
    fc.constantFrom(..."%?#&+;:@|^~[]{}\"'`<> \n\r\t.-_$!*(),=ab".split(""), "%41", "%2F", "ü", "日", "🙂"),
    fc.string(),
  ),
  { minLength: 1, maxLength: 8 },
).map((parts) => parts.join("").replace(/[/\0]|[\ud800-\udfff](?![\udc00-\udfff])/g, "x"))
  .filter((text) => text !== "" && text.isWellFormed() && !/^(\.|%2e){1,2}$/i.test(text)); // dots are no names

Deno.test("property: the file URL of a path leads back to it, and nothing of it is a query or a fragment", () => {
  const { fileUrl, filePath } = fileUrlsOf("posix");
  fc.assert(
    fc.property(fc.array(name, { minLength: 1, maxLength: 4 }), fc.boolean(), (names, endsWithSlash) => {
      const path = `/${names.join("/")}${endsWithSlash ? "/" : ""}`;
      const url = fileUrl(path);
      assert.equal(url.search + url.hash, "");
      assert.equal(filePath(url), path);
      assert.equal(filePath(url.href), path);
      if (Deno.build.os !== "windows") assert.equal(fileURLToPath(url), path);
    }),
  );
});

Deno.test("property: the same of paths on Windows, with drives and shares", () => {
  const { fileUrl, filePath } = fileUrlsOf("windows");
  const names = fc.array(name.map((text) => text.replaceAll("\\", "x")), { minLength: 1, maxLength: 4 });
  fc.assert(fc.property(fc.constantFrom("C:", "d:", "\\\\server\\share"), names, (root, names) => {
    const path = `${root}\\${names.join("\\")}`;
    assert.equal(filePath(fileUrl(path)), path);
    assert.equal(filePath(fileUrl(path.replaceAll("\\", "/").replace(/^\/\//, "\\\\"))), path);
  }));
});

Deno.test("file URLs are those of node:url", () => {
  const posix = fileUrlsOf("posix");
  assert.equal(posix.fileUrl("/a b/ü%#?\\.ts").href, "file:///a%20b/%C3%BC%25%23%3F%5C.ts");
  const windows = fileUrlsOf("windows");
  assert.equal(windows.fileUrl("C:\\a b\\ü%#?.ts").href, "file:///C:/a%20b/%C3%BC%25%23%3F.ts");
  assert.equal(windows.fileUrl("\\\\srv\\share\\x").href, "file://srv/share/x");
  assert.equal(filePath(fileUrl(Deno.cwd())), Deno.cwd());
});

Deno.test("a URL that is no path is told, with what is wrong with it", () => {
  const posix = fileUrlsOf("posix");
  const windows = fileUrlsOf("windows");
  const refused: readonly (readonly [() => string, RegExp])[] = [
    [
      () => posix.filePath("https://example.com/a"),
      /^Expected the file: URL of a path, found "https:.*"https:"$/,
    ],
    [() => posix.filePath("file://host/a"), /names the host "host"/],
    [() => posix.filePath("file:///a%2Fb"), /slash \(%2F\)/],
    [() => windows.filePath("file:///C:/a%5cb"), /separator/],
    [() => windows.filePath("file:///a/b"), /names no drive/],
  ];
  for (const [work, message] of refused) assert.throws(work, { name: "TypeError", message });
  assert.throws(() => posix.filePath("/a"), TypeError);
});
