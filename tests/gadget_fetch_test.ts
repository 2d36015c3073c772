import assert from "node:assert/strict";
import fc from "fast-check";
import fetchUrl from "../gadgets/fetch_url.ts";
import { type Http, type Json, virtualClock } from "../mod.ts";
import { htmlText } from "../lib/parse/html_text.ts";
import type { HttpResponse } from "../lib/core/world.ts";
import { hostHttp } from "../lib/host/http/http.ts";
import { callError, callGadget, testWorld } from "./_world.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const PAGE = "https://example.com/docs/page";

/** A network that gives this answer to everything. */
function answering(answer: Partial<HttpResponse> & { readonly type?: string }): Http {
  const { type, headers = {}, ...rest } = answer;
  return {
    fetch: (url) =>
      Promise.resolve({
        status: 200,
        url,
        body: new Uint8Array(),
        truncated: false,
        headers: { ...headers, ...(type !== undefined && { "content-type": type }) },
        ...rest,
      }),
    open: neverOpened,
  };
}

/** `FetchUrl` takes whole answers only. */
function neverOpened(): Promise<never> {
  return Promise.reject(new Error("this test has no streams"));
}

async function fetched(
  answer: Parameters<typeof answering>[0],
  input: Record<string, unknown> = {},
): Promise<Json> {
  await using world = await testWorld({ http: () => answering(answer) });
  return await callGadget(fetchUrl(world), { url: PAGE, ...input });
}

async function failure(
  answer: Parameters<typeof answering>[0],
  input: Record<string, unknown> = {},
): Promise<string> {
  await using world = await testWorld({ http: () => answering(answer) });
  return await callError(fetchUrl(world), { url: PAGE, ...input });
}

async function text(body: Uint8Array, type?: string): Promise<Json> {
  const found = await fetched({ body, ...(type !== undefined && { type }) });
  assert.ok(typeof found === "object" && found !== null && "text" in found);
  return found.text;
}

Deno.test("FetchUrl: a page as a reader sees it, or as it is", async () => {
  const html =
    "<!doctype html><title>A &amp; B</title><body><h1>Hello</h1><p>One <b>two</b>\n three.</p></body>";
  assert.deepEqual(await fetched({ body: bytes(html), type: "text/html; charset=utf-8" }), {
    url: PAGE,
    status: 200,
    contentType: "text/html",
    title: "A & B",
    text: "# Hello\n\nOne two three.",
    truncated: false,
  });
  const raw = await fetched({ body: bytes(html), type: "text/html" }, { format: "raw" });
  assert.deepEqual(raw, { url: PAGE, status: 200, contentType: "text/html", text: html, truncated: false });
  assert.deepEqual(
    await fetched({
      body: bytes('{"a": "<b>"}'),
      type: "application/json",
      url: "https://example.com/other",
    }),
    {
      url: "https://example.com/other",
      status: 200,
      contentType: "application/json",
      text: '{"a": "<b>"}',
      truncated: false,
    },
  );
  assert.deepEqual(await fetched({ status: 204 }), {
    url: PAGE,
    status: 204,
    contentType: "",
    text: "",
    truncated: false,
  });
});

Deno.test("FetchUrl: is marked as foreign text, and shown as text", async () => {
  await using world = await testWorld({
    http: () => answering({ body: bytes('<title>T</title>x"y'), type: "text/html" }),
  });
  const gadget = fetchUrl(world);
  assert.equal(gadget.untrusted, true);
  const result = await callGadget(gadget, { url: PAGE });
  assert.equal(
    gadget.format?.(result, { gadgetName: "FetchUrl", invocationId: "x", parameters: {} }),
    `${PAGE}\nT\n\nx"y`,
  );
});

Deno.test("FetchUrl: encodings", async () => {
  assert.equal(await text(Uint8Array.of(0xe9), "text/plain; charset=ISO-8859-1"), "é");
  assert.equal(await text(Uint8Array.of(0x80), 'text/plain; Charset="windows-1252"'), "€");
  assert.equal(await text(Uint8Array.of(0xef, 0xbb, 0xbf, 0xc3, 0xa9), "text/plain; charset=latin1"), "é");
  assert.equal(await text(Uint8Array.of(0xff, 0xfe, 0x41, 0, 0x42, 0), "text/plain"), "AB");
  assert.equal(await text(Uint8Array.of(...bytes("<meta charset=iso-8859-2><p>"), 0xb1), "text/html"), "ą");
  assert.equal(
    await text(Uint8Array.of(...bytes('<?xml version="1.0" encoding="latin1"?><a>'), 0xe9), "text/xml"),
    '<?xml version="1.0" encoding="latin1"?><a>é',
  );
  assert.equal(await text(bytes("plain é")), "plain é");
  assert.equal(await text(bytes("key: é"), "application/x-something"), "key: é");
  assert.match(
    await failure({ body: bytes("x"), type: "text/plain; charset=nonsense" }),
    /the character encoding "nonsense" is not known/,
  );
});

Deno.test("FetchUrl: content that is not text is refused by its type", async () => {
  const png = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10, 0);
  assert.equal(
    await failure({ body: png, type: "image/png" }),
    `Cannot read ${PAGE}: the content is not text but image/png (9 bytes)`,
  );
  assert.equal(
    await failure({ body: png }),
    `Cannot read ${PAGE}: the content is not text but a PNG image (9 bytes)`,
  );
  assert.match(
    await failure({ body: png, type: "text/plain", truncated: true }),
    /not text but text\/plain \(9 bytes or more\)/,
  );
  assert.match(
    await failure({ body: bytes("%PDF-1.7 text"), type: "application/pdf" }),
    /not text but application\/pdf/,
  );
});

Deno.test("FetchUrl: a status of 400 or more is an error", async () => {
  assert.equal(
    await failure({ status: 404, body: bytes("<h1>No such page</h1><script>x</script>"), type: "text/html" }),
    `GET ${PAGE} answered with status 404 (Not Found): # No such page`,
  );
  assert.equal(
    await failure({ status: 500 }, { method: "POST", body: "x" }),
    `POST ${PAGE} answered with status 500 (Internal Server Error)`,
  );
  assert.equal(
    await failure({ status: 599, body: Uint8Array.of(0) }),
    `GET ${PAGE} answered with status 599`,
  );
  const long = await failure({ status: 400, body: bytes("x".repeat(10_000)), type: "text/plain" });
  assert.ok(long.length < 700 && long.endsWith("x…"));
});

Deno.test("FetchUrl: a body that was cut says how much is missing", async () => {
  const cut = { body: bytes("aé").subarray(0, 2), truncated: true, type: "text/plain" };
  assert.deepEqual(await fetched({ ...cut, headers: { "content-length": "12345" } }, { maxBytes: 2 }), {
    url: PAGE,
    status: 200,
    contentType: "text/plain",
    text: "a\n[cut after 2 bytes; 12,343 bytes are missing]",
    truncated: true,
    missingBytes: 12_343,
  });
  const encoded = await fetched({ ...cut, headers: { "content-length": "9", "content-encoding": "gzip" } }, {
    maxBytes: 2,
  });
  assert.match(JSON.stringify(encoded), /\[cut after 2 bytes; the server does not say how much is missing\]/);
});

Deno.test("FetchUrl: sends what it is told, and no body where none belongs", async () => {
  const seen: unknown[] = [];
  await using world = await testWorld({
    http: () => ({
      fetch: (url, { signal: _, ...options } = {}) => {
        seen.push([url, options]);
        return answering({ body: bytes("ok") }).fetch(url);
      },
      open: neverOpened,
    }),
  });
  const input = { url: PAGE, method: "PUT", headers: { "x-a": "1" }, body: "data", maxBytes: 10 };
  await callGadget(fetchUrl(world), input);
  assert.deepEqual(seen, [[PAGE, { method: "PUT", headers: { "x-a": "1" }, body: "data", maxBytes: 10 }]]);
  assert.equal(
    await callError(fetchUrl(world), { url: PAGE, body: "x" }),
    `Cannot send a "body" to ${PAGE} with the method GET; use POST, PUT or PATCH`,
  );
  assert.match(await callError(fetchUrl(world), { url: PAGE, method: "TRACE" }), /method/);
});

Deno.test("FetchUrl: waits no longer than it is told", async () => {
  const clock = virtualClock();
  const never: Http = {
    fetch: (_, options) =>
      new Promise((_, reject) =>
        options?.signal?.addEventListener("abort", () => reject(options.signal?.reason))
      ),
    open: neverOpened,
  };
  await using world = await testWorld({ http: () => never, clock });
  assert.equal(
    await clock.run(callError(fetchUrl(world), { url: PAGE, timeoutMs: 2500 })),
    `Cannot fetch "${PAGE}": no answer within 2,500 ms; pass a longer "timeoutMs"`,
  );
  assert.equal(clock.now(), 2500);
  const abort = new AbortController();
  abort.abort(new Error("stopped by the test"));
  const aborted: Http = { fetch: (_, options) => Promise.reject(options?.signal?.reason), open: neverOpened };
  await using other = await testWorld({ http: () => aborted });
  assert.equal(
    await callError(fetchUrl(other), { url: PAGE }, { signal: abort.signal }),
    "stopped by the test",
  );
});

Deno.test("FetchUrl: over a real server, with redirects and refusals", async () => {
  // Deno's server compresses what it may transform.
  const PLAIN = { "content-type": "text/plain", "cache-control": "no-transform" };
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, (request) => {
    const { pathname } = new URL(request.url);
    if (pathname === "/old") return Response.redirect(new URL("/new", request.url), 302);
    if (pathname === "/big") {
      return new Response("x".repeat(100_000), { headers: PLAIN });
    }
    if (pathname === "/new") {
      return new Response("<p>There <a href='next?a=1&amp;b=2'>next</a>", {
        headers: { "content-type": "text/html" },
      });
    }
    return new Response("nothing here", { status: 404 });
  });
  try {
    const base = `http://127.0.0.1:${server.addr.port}`;
    await using world = await testWorld({
      flags: [`allow-net=127.0.0.1:${server.addr.port}`],
      http: (check) => hostHttp({ check }),
    });
    assert.deepEqual(await callGadget(fetchUrl(world), { url: `${base}/old` }), {
      url: `${base}/new`,
      status: 200,
      contentType: "text/html",
      text: `There [next](${base}/next?a=1&b=2)`,
      truncated: false,
    });
    assert.match(
      JSON.stringify(await callGadget(fetchUrl(world), { url: `${base}/big`, maxBytes: 1000 })),
      /"missingBytes":99000/,
    );
    assert.match(
      await callError(fetchUrl(world), { url: `${base}/x` }),
      /GET .*\/x answered with status 404 \(Not Found\): nothing here/,
    );
    assert.match(await callError(fetchUrl(world), { url: "file:///etc/passwd" }), /http/);
    await using closed = await testWorld({ flags: ["allow-net"], http: (check) => hostHttp({ check }) });
    assert.match(
      await callError(fetchUrl(closed), { url: base }),
      /Connecting to "127\.0\.0\.1:\d+" is not allowed: .*--allow-net=127\.0\.0\.1/,
    );
  } finally {
    await server.shutdown();
  }
});

const read = (html: string) => htmlText(html, { baseUrl: "https://example.com/a/b" }).text;

Deno.test("HTML as text: by example", () => {
  const cases: readonly (readonly [string, string])[] = [
    ["a<b>b</b> c", "ab c"],
    ["<p>one<p>two", "one\n\ntwo"],
    ["one<br>two<br><br>three", "one\ntwo\n\nthree"],
    ["<ul><li>a<li>b<ol><li>c</li><li>d</li></ol></ul>after", "- a\n- b\n  1. c\n  2. d\n\nafter"],
    ["<table><tr><th>a<th>b<tr><td>1</td> <td>2</td></table>", "a | b\n1 | 2"],
    ["<pre>  two\n   three</pre>end", "  two\n   three\n\nend"],
    ["<script>if (a < b) '</p>'</script>x<style>p{}</style>y<!-- <p> -->z", "xyz"],
    ["<svg><title>icon</title><svg></svg><text>t</text></svg>x", "x"],
    ["<a href='/c?x=1&amp;y=2'>link <b>text</b></a>", "[link text](https://example.com/c?x=1&y=2)"],
    ["<base href='https://other.org/'><a href=d>x</a>", "[x](https://other.org/d)"],
    ["<a href='javascript:x()'>a</a> <a href='#top'>b</a> <a>c</a> <a href='mailto:x@y.z'>d</a>", "a b c d"],
    ["see <a href='x'><img alt='logo'></a>, <a href='y'></a>end", "see [logo](https://example.com/a/x), end"],
    [
      "&lt;b&gt; &#65;&#x42; &eacute;&Omega;&rarr;&nbsp;&hellip; &nosuch; &#0; &#150; &#xD800; AT&T",
      "<b> AB éΩ→ … &nosuch; \uFFFD – \uFFFD AT&T",
    ],
    ["1 < 2 and 3 <4> <", "1 < 2 and 3 <4> <"],
    ["<p title='a > b'>x</p><p title=\"it's\">y", "x\n\ny"],
    ["<h2>Two</h2>text<hr>more", "## Two\n\ntext\n\nmore"],
    ["<![CDATA[raw]]> x <?php y ?> z", "raw x z"],
    ["<textarea><b>kept</b></textarea>", "<b>kept</b>"],
    ["<P>UPPER</P><SCRIPT>x</SCRIPT >y", "UPPER\n\ny"],
    ["open <a href='x'>end", "open [end](https://example.com/a/x)"],
    ["<constructor>a</constructor><x-a>b</x-a><toString>c", "abc"],
    ["a <__proto__> b", "a <__proto__> b"],
  ];
  for (const [html, expected] of cases) assert.equal(read(html), expected, html);
});

Deno.test("HTML as text: whatever comes, it ends, and words come through", () => {
  const parts = fc.constantFrom(
    "<",
    ">",
    "</",
    "<p>",
    "<script>",
    "</script>",
    "<!--",
    "-->",
    "'",
    '"',
    "=",
    "a",
    " ",
    "\n",
    "&amp;",
    "&#",
    "<a href=",
    "<pre>",
    "<svg>",
    "</svg>",
    "<li>",
    "<td>",
  );
  fc.assert(fc.property(fc.array(parts, { maxLength: 30 }), (html) => {
    const text = read(html.join(""));
    assert.ok(text.length <= 40 * html.length, "no page becomes much longer");
    assert.equal(text, text.trimEnd());
  }));
  fc.assert(fc.property(fc.array(fc.constantFrom("a", "b", " ", "\n"), { maxLength: 20 }), (words) => {
    // Plain text comes through, with its blanks made one.
    assert.equal(read(words.join("")), words.join("").replaceAll(/\s+/g, " ").trim());
    assert.equal(read(`x<script>${words.join("")}</script>y`), "xy");
  }));
});

Deno.test("HTML as text: linear", () => {
  for (
    const part of [
      "<",
      "<a ",
      "<a href='",
      "<!--",
      "<script>",
      "&",
      "&#",
      "<p",
      "</",
      "<a =",
      "<td>",
      "<ul><li>",
      "<a href=x>",
    ]
  ) {
    const started = performance.now();
    read(part.repeat(200_000));
    const ms = performance.now() - started;
    assert.ok(ms < 5000, `${JSON.stringify(part)}: ${ms} ms`);
  }
});
