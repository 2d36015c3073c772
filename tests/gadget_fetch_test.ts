import assert from "node:assert/strict";
import type { Json } from "../mod.ts";
import { type GadgetFolder, gadgetFolder } from "./_gadgets.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

/** What the server says to everything. */
interface Answer {
  readonly status?: number;
  readonly type?: string;
  readonly body?: Uint8Array<ArrayBuffer>;
  readonly headers?: Readonly<Record<string, string>>;
}

let answer: Answer = {};
/** The last that it was asked. */
let asked: unknown;
let PAGE = "";

/** Runs a test with a server that gives `answer`, and a gadget that may ask it. */
function fetchTest(name: string, work: (world: GadgetFolder) => Promise<void>): void {
  Deno.test(name, async () => {
    await using server = Deno.serve(
      { port: 0, hostname: "127.0.0.1", onListen: () => {} },
      async (request) => {
        asked = { method: request.method, header: request.headers.get("x-a"), body: await request.text() };
        const { status = 200, type, body, headers } = answer;
        return new Response(body, {
          status,
          // Deno's server compresses what it may transform.
          headers: {
            "cache-control": "no-transform",
            ...headers,
            ...(type !== undefined && { "content-type": type }),
          },
        });
      },
    );
    const { port } = server.addr;
    PAGE = `http://127.0.0.1:${port}/docs/page`;
    await using world = await gadgetFolder({ allow: { net: [`127.0.0.1:${port}`] } });
    await work(world);
  });
}

function fetched(world: GadgetFolder, given: Answer, input: Record<string, unknown> = {}): Promise<Json> {
  answer = given;
  return world.call("FetchUrl", { url: PAGE, ...input });
}

function failure(world: GadgetFolder, given: Answer, input: Record<string, unknown> = {}): Promise<string> {
  answer = given;
  return world.error("FetchUrl", { url: PAGE, ...input });
}

async function text(world: GadgetFolder, body: Uint8Array<ArrayBuffer>, type?: string): Promise<Json> {
  const found = await fetched(world, { body, ...(type !== undefined && { type }) });
  assert.ok(typeof found === "object" && found !== null && "text" in found);
  return found.text;
}

fetchTest("FetchUrl: a page as a reader sees it, or as it is", async (world) => {
  const html =
    "<!doctype html><title>A &amp; B</title><body><h1>Hello</h1><p>One <b>two</b>\n three.</p></body>";
  assert.deepEqual(await fetched(world, { body: bytes(html), type: "text/html; charset=utf-8" }), {
    url: PAGE,
    status: 200,
    contentType: "text/html",
    title: "A & B",
    text: "# Hello\n\nOne two three.",
    truncated: false,
  });
  const raw = await fetched(world, { body: bytes(html), type: "text/html" }, { format: "raw" });
  assert.deepEqual(raw, { url: PAGE, status: 200, contentType: "text/html", text: html, truncated: false });
  assert.deepEqual(
    await fetched(world, { body: bytes('{"a": "<b>"}'), type: "application/json" }),
    {
      url: PAGE,
      status: 200,
      contentType: "application/json",
      text: '{"a": "<b>"}',
      truncated: false,
    },
  );
  assert.deepEqual(await fetched(world, { status: 204 }), {
    url: PAGE,
    status: 204,
    contentType: "",
    text: "",
    truncated: false,
  });
});

fetchTest("FetchUrl: is marked as foreign text, and shown as text", async (world) => {
  assert.equal((await world.gadget("FetchUrl")).untrusted, true);
  answer = { body: bytes('<title>T</title>x"y'), type: "text/html" };
  assert.equal(
    await world.shown("FetchUrl", { url: PAGE }),
    `${PAGE}\nT\n\nx"y`,
  );
});

fetchTest("FetchUrl: encodings", async (world) => {
  assert.equal(await text(world, Uint8Array.of(0xe9), "text/plain; charset=ISO-8859-1"), "é");
  assert.equal(await text(world, Uint8Array.of(0x80), 'text/plain; Charset="windows-1252"'), "€");
  assert.equal(
    await text(world, Uint8Array.of(0xef, 0xbb, 0xbf, 0xc3, 0xa9), "text/plain; charset=latin1"),
    "é",
  );
  assert.equal(await text(world, Uint8Array.of(0xff, 0xfe, 0x41, 0, 0x42, 0), "text/plain"), "AB");
  assert.equal(
    await text(world, Uint8Array.of(...bytes("<meta charset=iso-8859-2><p>"), 0xb1), "text/html"),
    "ą",
  );
  assert.equal(
    await text(
      world,
      Uint8Array.of(...bytes('<?xml version="1.0" encoding="latin1"?><a>'), 0xe9),
      "text/xml",
    ),
    '<?xml version="1.0" encoding="latin1"?><a>é',
  );
  assert.equal(await text(world, bytes("plain é")), "plain é");
  assert.equal(await text(world, bytes("key: é"), "application/x-something"), "key: é");
  assert.match(
    await failure(world, { body: bytes("x"), type: "text/plain; charset=nonsense" }),
    /the character encoding "nonsense" is not known/,
  );
});

fetchTest("FetchUrl: content that is not text is refused by its type", async (world) => {
  const png = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10, 0);
  assert.equal(
    await failure(world, { body: png, type: "image/png" }),
    `Cannot read ${PAGE}: the content is not text but image/png (9 bytes)`,
  );
  assert.equal(
    await failure(world, { body: png }),
    `Cannot read ${PAGE}: the content is not text but a PNG image (9 bytes)`,
  );
  assert.match(
    await failure(world, { body: Uint8Array.of(...png, 1), type: "text/plain" }, { maxBytes: 9 }),
    /not text but text\/plain \(9 bytes or more\)/,
  );
  assert.match(
    await failure(world, { body: bytes("%PDF-1.7 text"), type: "application/pdf" }),
    /not text but application\/pdf/,
  );
});

fetchTest("FetchUrl: a status of 400 or more is an error", async (world) => {
  assert.equal(
    await failure(world, {
      status: 404,
      body: bytes("<h1>No such page</h1><script>x</script>"),
      type: "text/html",
    }),
    `GET ${PAGE} answered with status 404 (Not Found): # No such page`,
  );
  assert.equal(
    await failure(world, { status: 500 }, { method: "POST", body: "x" }),
    `POST ${PAGE} answered with status 500 (Internal Server Error)`,
  );
  assert.equal(
    await failure(world, { status: 599, body: Uint8Array.of(0) }),
    `GET ${PAGE} answered with status 599`,
  );
  const long = await failure(world, { status: 400, body: bytes("x".repeat(10_000)), type: "text/plain" });
  assert.ok(long.length < 700 && long.endsWith("x…"));
});

fetchTest("FetchUrl: a body that was cut says how much is missing", async (world) => {
  const cut = { body: bytes("aé".padEnd(12_344, "x")), type: "text/plain" };
  assert.deepEqual(await fetched(world, cut, { maxBytes: 2 }), {
    url: PAGE,
    status: 200,
    contentType: "text/plain",
    text: "a\n[cut after 2 bytes; 12,343 bytes are missing]",
    truncated: true,
    missingBytes: 12_343,
  });
  const body = new Response(
    new Blob([bytes("aé and more")]).stream().pipeThrough(new CompressionStream("gzip")),
  );
  const packed = new Uint8Array(await body.arrayBuffer());
  const encoded = await fetched(
    world,
    {
      body: packed,
      type: "text/plain",
      headers: { "content-length": `${packed.length}`, "content-encoding": "gzip" },
    },
    { maxBytes: 2 },
  );
  assert.match(JSON.stringify(encoded), /\[cut after 2 bytes; the server does not say how much is missing\]/);
});

fetchTest("FetchUrl: sends what it is told, and no body where none belongs", async (world) => {
  const input = { method: "PUT", headers: { "x-a": "1" }, body: "data", maxBytes: 10 };
  await fetched(world, { body: bytes("ok"), type: "text/plain" }, input);
  assert.deepEqual(asked, { method: "PUT", header: "1", body: "data" });
  assert.equal(
    await world.error("FetchUrl", { url: PAGE, body: "x" }),
    `Cannot send a "body" to ${PAGE} with the method GET; use POST, PUT or PATCH`,
  );
  assert.match(await world.error("FetchUrl", { url: PAGE, method: "TRACE" }), /method/);
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
    await using world = await gadgetFolder({
      allow: { net: [`127.0.0.1:${server.addr.port}`] },
    });
    assert.deepEqual(await world.call("FetchUrl", { url: `${base}/old` }), {
      url: `${base}/new`,
      status: 200,
      contentType: "text/html",
      text: `There [next](${base}/next?a=1&b=2)`,
      truncated: false,
    });
    assert.match(
      JSON.stringify(await world.call("FetchUrl", { url: `${base}/big`, maxBytes: 1000 })),
      /"missingBytes":99000/,
    );
    assert.match(
      await world.error("FetchUrl", { url: `${base}/x` }),
      /GET .*\/x answered with status 404 \(Not Found\): nothing here/,
    );
    assert.match(await world.error("FetchUrl", { url: "file:///etc/passwd" }), /http/);
    await using closed = await gadgetFolder({ allow: { net: true } });
    assert.match(
      await closed.error("FetchUrl", { url: base }),
      /Connecting to "127\.0\.0\.1:\d+" is not allowed: .*--allow-net=127\.0\.0\.1/,
    );
  } finally {
    await server.shutdown();
  }
});

fetchTest("FetchUrl: HTML as text", async (world) => {
  const origin = new URL(PAGE).origin;
  const cases: readonly (readonly [string, string])[] = [
    ["a<b>b</b> c", "ab c"],
    ["<p>one<p>two", "one\n\ntwo"],
    ["one<br>two<br><br>three", "one\ntwo\n\nthree"],
    ["<ul><li>a<li>b<ol><li>c</li><li>d</li></ol></ul>after", "- a\n- b\n  1. c\n  2. d\n\nafter"],
    ["<table><tr><th>a<th>b<tr><td>1</td> <td>2</td></table>", "a | b\n1 | 2"],
    ["<pre>  two\n   three</pre>end", "  two\n   three\n\nend"],
    ["<script>if (a < b) '</p>'</script>x<style>p{}</style>y<!-- <p> -->z", "xyz"],
    ["<svg><title>icon</title><svg></svg><text>t</text></svg>x", "x"],
    ["<a href='/c?x=1&amp;y=2'>link <b>text</b></a>", `[link text](${origin}/c?x=1&y=2)`],
    ["<base href='https://other.org/'><a href=d>x</a>", "[x](https://other.org/d)"],
    ["<a href='javascript:x()'>a</a> <a href='#top'>b</a> <a>c</a> <a href='mailto:x@y.z'>d</a>", "a b c d"],
    ["see <a href='x'><img alt='logo'></a>, <a href='y'></a>end", `see [logo](${origin}/docs/x), end`],
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
    ["open <a href='x'>end", `open [end](${origin}/docs/x)`],
    ["<constructor>a</constructor><x-a>b</x-a><toString>c", "abc"],
    ["a <__proto__> b", "a <__proto__> b"],
  ];
  for (const [html, expected] of cases) {
    assert.equal(await text(world, bytes(html), "text/html; charset=utf-8"), expected, html);
  }
});
