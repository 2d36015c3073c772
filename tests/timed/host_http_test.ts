import assert from "node:assert/strict";
import { join } from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { type Http, PermissionRefused, type PermissionRequest } from "../../mod.ts";
import { hostHttp } from "../../lib/host/http/http.ts";
import { acceptedEncodings } from "../../lib/host/http/exchange.ts";
import { createPolicy } from "../../lib/policy/policy.ts";
import { parsePolicyFlags } from "../../lib/policy/policy_settings.ts";
import { withRawServer, withServer } from "../_loopback.ts";

/** Fetches with the policy that these `--allow-net` values make. */
function httpWith(...allowNet: (string | true)[]): Http {
  const settings = parsePolicyFlags(allowNet.map((value) => ({ name: "allow-net", value })));
  const policy = createPolicy(settings, { root: "/project", cwd: "/project" });
  return hostHttp({ check: (request) => policy.check(request) });
}

/** What the server is told can be decoded: brotli only where Deno has a safe one. */
const ENCODINGS = acceptedEncodings().split(", ");
if (!ENCODINGS.includes("br")) console.log("not run here: brotli, which this Deno cannot decode safely");

const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);

async function refused(work: Promise<unknown>, message: string | RegExp): Promise<void> {
  const error = await work.then(() => undefined, (error: unknown) => error);
  assert.ok(error instanceof PermissionRefused, `expected a refusal, found ${error}`);
  if (typeof message === "string") assert.equal(error.message, message);
  else assert.match(error.message, message);
}

Deno.test("http: a page, its headers and what the server saw", async () => {
  const seen: string[] = [];
  await withServer(async (request, port) => {
    seen.push(
      `${request.method} ${request.url.replace(String(port), "PORT")} ${
        request.headers.get("x-own")
      } ${await request.text()}`,
    );
    return new Response("grüße", { status: 201, headers: { "X-Answer": "1" } });
  }, async (port) => {
    const answer = await httpWith(`127.0.0.1:${port}`).fetch(`http://127.0.0.1:${port}/a%20b?q=ü#part`, {
      method: "post",
      headers: { "X-Own": "é" },
      body: "bödy",
    });
    assert.equal(answer.status, 201);
    assert.equal(text(answer.body), "grüße");
    assert.equal(answer.headers["x-answer"], "1");
    assert.equal(answer.url, `http://127.0.0.1:${port}/a%20b?q=%C3%BC#part`);
    assert.equal(answer.truncated, false);
    assert.deepEqual(seen, ["POST http://127.0.0.1:PORT/a%20b?q=%C3%BC é bödy"]);
  });
});

Deno.test("http: every hop and every address is checked before it is dialled", async () => {
  await withServer((request, port) => {
    const { pathname } = new URL(request.url);
    return pathname === "/end" ? new Response("end") : Response.redirect(`http://localhost:${port}/end`);
  }, async (port) => {
    const asked: PermissionRequest[] = [];
    const http = hostHttp({ check: (request) => void asked.push(request) });
    const answer = await http.fetch(`http://127.0.0.1:${port}/start`);
    assert.equal(answer.url, `http://localhost:${port}/end`);
    const resolved = asked.slice(3);
    assert.deepEqual(asked.slice(0, 3), [
      { kind: "net", value: `127.0.0.1:${port}` },
      { kind: "net", value: `127.0.0.1:${port}`, address: "127.0.0.1" },
      { kind: "net", value: `localhost:${port}` },
    ]);
    assert.ok(resolved.length > 0);
    for (const { value, address } of resolved) {
      assert.equal(value, `localhost:${port}`);
      assert.match(address ?? "", /^(127\.0\.0\.1|::1)$/);
    }
  });
});

Deno.test("http: loopback is refused, by any spelling, unless it is named", async () => {
  await withServer(() => new Response("inside"), async (port) => {
    const all = httpWith(true);
    const range = "not public (loopback) and must be named outright; add";
    await refused(
      all.fetch(`http://127.0.0.1:${port}/`),
      `Connecting to "127.0.0.1:${port}" is not allowed: -A and --allow-net alone open public addresses only; it is ${range} --allow-net=127.0.0.1:${port}`,
    );
    for (
      const host of [
        "127.1",
        "0x7f000001",
        "2130706433",
        "0177.0.0.1",
        "127.0.0.1.",
        "[::ffff:127.0.0.1]",
        "[::1]",
        "0.0.0.0",
        "localhost",
        "LOCALHOST",
      ]
    ) {
      await refused(all.fetch(`http://${host}:${port}/`), /must be named outright; add '?--allow-net=/);
    }
    assert.equal(text((await httpWith("localhost").fetch(`http://localhost:${port}/`)).body), "inside");
    assert.equal(text((await httpWith(true, "127.0.0.1").fetch(`http://localhost:${port}/`)).body), "inside");
    await refused(
      httpWith("127.0.0.1").fetch(`http://localhost:${port}/`),
      `Connecting to "localhost:${port}" is not allowed: add --allow-net=localhost:${port}`,
    );
    await refused(
      httpWith(`localhost:${port + 1}`).fetch(`http://localhost:${port}/`),
      /is not allowed: add/,
    );
  });
});

Deno.test("http: a host that is not allowed is not even looked up", async () => {
  await refused(
    httpWith("example.com").fetch("https://secret-data.orrery-test.invalid/x"),
    `Connecting to "secret-data.orrery-test.invalid:443" is not allowed: add --allow-net=secret-data.orrery-test.invalid:443`,
  );
});

Deno.test("http: a redirect to a private address is refused and says where from", async () => {
  let target = "";
  const seen: string[] = [];
  await withServer((request) => {
    seen.push(new URL(request.url).pathname);
    return new Response(null, { status: 302, headers: { location: target } });
  }, async (port) => {
    const first = `http://127.0.0.1:${port}/start`;
    const http = httpWith(true, `127.0.0.1:${port}`);
    for (
      const host of ["169.254.169.254", "10.0.0.1", "[fd00::1]", "[64:ff9b::a00:1]", `localhost:${port + 1}`]
    ) {
      target = `http://${host}/latest`;
      await refused(
        http.fetch(first),
        new RegExp(`must be named outright; add .*\\("${first}" redirects there\\)$`),
      );
    }
    assert.deepEqual(new Set(seen), new Set(["/start"]));
  });
});

Deno.test("http: redirects change the method as browsers do and keep secrets to their origin", async () => {
  const seen: string[] = [];
  const secrets = (request: Request) =>
    ["authorization", "cookie", "content-type"].map((name) => request.headers.get(name) ?? "-").join(" ");
  const handler = (base: () => string) => async (request: Request) => {
    const { pathname } = new URL(request.url);
    seen.push(`${request.method} ${pathname} ${secrets(request)} ${await request.text()}`);
    const status = Number(pathname.slice(1));
    return status ? new Response("", { status, headers: { location: `${base()}/end` } }) : new Response("ok");
  };
  let base = "";
  await withServer(handler(() => base), async (port) => {
    await withServer(handler(() => ""), async (otherPort) => {
      const http = hostHttp({ check() {} });
      const send = (status: number) =>
        http.fetch(`http://127.0.0.1:${port}/${status}`, {
          method: "POST",
          headers: { Authorization: "A", Cookie: "C", "Content-Type": "T" },
          body: "body",
        });
      await send(302);
      await send(307);
      base = `http://127.0.0.1:${otherPort}`;
      await send(303);
      await send(308);
      assert.deepEqual(seen, [
        "POST /302 A C T body",
        "GET /end A C - ",
        "POST /307 A C T body",
        "POST /end A C T body",
        "POST /303 A C T body",
        "GET /end - - - ",
        "POST /308 A C T body",
        "POST /end - - T body",
      ]);
    });
  });
});

Deno.test("http: too many redirects, and redirects to what is no page", async () => {
  await withServer((request, port) => {
    const { pathname } = new URL(request.url);
    const location = pathname === "/file" ? "file:///etc/passwd" : `http://127.0.0.1:${port}${pathname}x`;
    return new Response(null, { status: 301, headers: { location } });
  }, async (port) => {
    const http = hostHttp({ check() {} });
    const url = `http://127.0.0.1:${port}`;
    await assert.rejects(http.fetch(`${url}/`, { maxRedirects: 2 }), {
      message: `Cannot fetch "${url}/": more than 2 redirects, the last one to "${url}/xxx"`,
    });
    await assert.rejects(http.fetch(`${url}/file`), {
      message:
        `Cannot fetch "${url}/file": it redirects to "file:///etc/passwd": expected a URL with http: or https:, found "file:"`,
    });
  });
});

Deno.test("http: what cannot be asked for is an error before anything is sent", async () => {
  const http = hostHttp({ check: () => assert.fail("nothing may be dialled") });
  const cases: readonly [string, Parameters<Http["fetch"]>[1], string][] = [
    ["page.html", {}, `Cannot fetch "page.html": expected a whole URL such as "https://example.com/page"`],
    ["ftp://a/", {}, `Cannot fetch "ftp://a/": expected a URL with http: or https:, found "ftp:"`],
    [
      "http://u:p@a/",
      {},
      `Cannot fetch "http://u:p@a/": a URL must not hold a name or a password; use the header "authorization"`,
    ],
    [
      "http://a/",
      { method: "GET /x HTTP/1.1\r\n" },
      `Cannot fetch "http://a/": "GET /X HTTP/1.1\\r\\n" is no method that can be used`,
    ],
    [
      "http://a/",
      { headers: { "x": "1\r\ny: 2" } },
      `Cannot fetch "http://a/": the header "x" has a value with a character that is not allowed in one`,
    ],
    [
      "http://a/",
      { headers: { "x: y": "1" } },
      `Cannot fetch "http://a/": the header "x: y" has a name with a character that is not allowed in one`,
    ],
    [
      "http://a/",
      { headers: { Host: "b" } },
      `Cannot fetch "http://a/": the header "Host" is set by Orrery itself`,
    ],
  ];
  for (const [url, options, message] of cases) await assert.rejects(http.fetch(url, options), { message });
});

Deno.test("http: gzip and brotli are decoded, and what was not asked for is an error", async () => {
  const page = "Seite ".repeat(10_000);
  await withServer((request) => {
    const path = new URL(request.url).pathname;
    const body = path === "/gzip"
      ? gzipSync(page)
      : path === "/br"
      ? brotliCompressSync(page)
      : brotliCompressSync(gzipSync(page));
    const encoding = path === "/both" ? "gzip, br" : path.slice(1);
    return new Response(new Uint8Array(body), {
      headers: { "content-encoding": encoding, "cache-control": "no-transform" },
    });
  }, async (port) => {
    const http = hostHttp({ check() {} });
    for (const path of ENCODINGS.includes("br") ? ["/gzip", "/br", "/both"] : ["/gzip"]) {
      assert.equal(text((await http.fetch(`http://127.0.0.1:${port}${path}`)).body), page, path);
    }
    await assert.rejects(
      http.fetch(`http://127.0.0.1:${port}/zstd`),
      /its body is encoded as "zstd", expected one of gzip/,
    );
  });
});

Deno.test("http: a body is cut at the cap, also one that unfolds to gigabytes", async () => {
  const bomb = gzipSync(new Uint8Array(50_000_000));
  const brotliBomb = brotliCompressSync(new Uint8Array(50_000_000));
  await withServer((request) => {
    const path = new URL(request.url).pathname;
    const headers = { "cache-control": "no-transform" };
    if (path === "/gzip") {
      return new Response(new Uint8Array(bomb), { headers: { ...headers, "content-encoding": "gzip" } });
    }
    if (path === "/br") {
      return new Response(new Uint8Array(brotliBomb), { headers: { ...headers, "content-encoding": "br" } });
    }
    return new Response("0123456789");
  }, async (port) => {
    const http = hostHttp({ check() {} });
    const url = `http://127.0.0.1:${port}`;
    const cut = await http.fetch(url, { maxBytes: 4 });
    assert.deepEqual([text(cut.body), cut.truncated], ["0123", true]);
    const whole = await http.fetch(url, { maxBytes: 10 });
    assert.deepEqual([text(whole.body), whole.truncated], ["0123456789", false]);
    for (const path of ENCODINGS.map((encoding) => `/${encoding}`)) {
      const answer = await http.fetch(url + path, { maxBytes: 1000 });
      assert.deepEqual([answer.body.length, answer.truncated], [1000, true], path);
    }
  });
});

Deno.test("http: a cut body does not wait for a server that goes on slowly", async () => {
  const head = (encoding: string) =>
    new TextEncoder().encode(`HTTP/1.1 200 OK\r\ncontent-encoding: ${encoding}\r\n\r\n`);
  const random = crypto.getRandomValues(new Uint8Array(60_000)); // does not compress, so that half of it is some text
  for (const encoding of ENCODINGS) {
    const whole = encoding === "br" ? brotliCompressSync(random) : gzipSync(random);
    const half = new Uint8Array([...head(encoding), ...whole.subarray(0, 40_000)]);
    await withRawServer(half, async (port) => {
      const started = performance.now();
      const answer = await hostHttp({ check() {} }).fetch(`http://127.0.0.1:${port}/`, { maxBytes: 100 });
      assert.deepEqual([answer.body.length, answer.truncated], [100, true]);
      assert.ok(performance.now() - started < 2000);
    }, { keepOpen: true });
  }
});

Deno.test("http: an abort ends a wait for the head and for the body", async () => {
  for (const answer of ["", "HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n012"]) {
    await withRawServer(answer, async (port, received) => {
      const abort = new AbortController();
      const reason = new Error("enough");
      const fetching = hostHttp({ check() {} }).fetch(`http://127.0.0.1:${port}/`, { signal: abort.signal });
      fetching.catch(() => {});
      while (received.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
      setTimeout(() => abort.abort(reason), 20);
      await assert.rejects(fetching, reason);
    }, { keepOpen: true });
  }
  await assert.rejects(
    hostHttp({ check() {} }).fetch("http://127.0.0.1:9/", { signal: AbortSignal.abort() }),
    { name: "AbortError" },
  );
});

Deno.test("http: an answer that is opened is there with its head, its body comes as it is sent", async () => {
  const next = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  await withServer(() => {
    const parts = async function* () {
      yield "one";
      for (const [index, { promise }] of next.entries()) {
        await promise;
        yield `part ${index}`;
      }
    };
    const body = ReadableStream.from(parts()).pipeThrough(new TextEncoderStream());
    return new Response(body, { status: 202, headers: { "x-own": "1", "cache-control": "no-transform" } });
  }, async (port) => {
    const { status, url, headers, body } = await hostHttp({ check() {} }).open(`http://127.0.0.1:${port}/s`);
    assert.deepEqual([status, url, headers["x-own"]], [202, `http://127.0.0.1:${port}/s`, "1"]);
    const got: string[] = [];
    for await (const chunk of body) {
      got.push(text(chunk));
      next[got.length - 1]?.resolve();
    }
    assert.deepEqual(got, ["one", "part 0", "part 1"]);
  });
});

Deno.test("http: the body of an opened answer is decoded and followed to where it was moved", async () => {
  const page = "Seite ".repeat(10_000);
  await withServer((request, port) => {
    const { pathname } = new URL(request.url);
    if (pathname === "/old") return Response.redirect(`http://127.0.0.1:${port}/new`);
    const headers = { "content-encoding": "gzip", "cache-control": "no-transform" };
    return new Response(new Uint8Array(gzipSync(page)), { headers });
  }, async (port) => {
    const asked: string[] = [];
    const http = hostHttp({ check: ({ value, address = "" }) => void asked.push(`${value} ${address}`) });
    const { url, body } = await http.open(`http://127.0.0.1:${port}/old`);
    let got = "";
    for await (const chunk of body) got += text(chunk);
    assert.equal(got, page);
    assert.equal(url, `http://127.0.0.1:${port}/new`);
    assert.equal(asked.length, 4); // two hops: the host, and the address
    await refused(httpWith("example.com").open(`http://127.0.0.1:${port}/`), /is not allowed/);
    await assert.rejects(
      http.open(`http://127.0.0.1:${port}/old`, { maxRedirects: 0 }),
      /more than 0 redirects/,
    );
  });
});

Deno.test("http: the connection of an opened answer is closed with the loop, by an abort and by an end", async () => {
  const head = "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nabc";
  const closedAfter = async (
    work: (open: (signal?: AbortSignal) => ReturnType<Http["open"]>) => Promise<void>,
  ) => {
    const closed = Promise.withResolvers<void>();
    await withRawServer(head, async (port) => {
      const http = hostHttp({ check() {} });
      await work((signal) => http.open(`http://127.0.0.1:${port}/`, signal && { signal }));
      await closed.promise;
    }, { keepOpen: true, onClosed: () => closed.resolve() });
  };
  await closedAfter(async (open) => {
    for await (const chunk of (await open()).body) {
      assert.equal(text(chunk), "abc");
      break;
    }
  });
  await closedAfter(async (open) => {
    const abort = new AbortController();
    const { body } = await open(abort.signal);
    const reason = new Error("enough");
    await assert.rejects(async () => {
      for await (const _chunk of body) setTimeout(() => abort.abort(reason), 10);
    }, reason);
  });
  await closedAfter(async (open) => {
    const abort = new AbortController();
    await open(abort.signal); // nobody wants the body
    abort.abort();
  });
});

Deno.test("http: a body that breaks off is an error of the loop", async () => {
  await withRawServer("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nabc", async (port) => {
    const { body } = await hostHttp({ check() {} }).open(`http://127.0.0.1:${port}/x`);
    await assert.rejects(async () => {
      for await (const _chunk of body);
    }, { message: `Cannot fetch "http://127.0.0.1:${port}/x": the connection ended after 3 of 100 bytes` });
  });
});

Deno.test("http: a header with a secret stays with its origin", async () => {
  const seen: (string | null)[] = [];
  await withServer((request) => {
    seen.push(request.headers.get("x-key"));
    return new Response("ok");
  }, async (other) => {
    await withServer((request, port) => {
      seen.push(request.headers.get("x-key"));
      const to = new URL(request.url).pathname === "/there"
        ? `http://127.0.0.1:${other}/`
        : `http://127.0.0.1:${port}/there`;
      return Response.redirect(to);
    }, async (port) => {
      await hostHttp({ check() {} }).fetch(`http://127.0.0.1:${port}/`, {
        headers: { "X-Key": "secret" },
        secretHeaders: ["X-Key"],
      });
    });
  });
  assert.deepEqual(seen, ["secret", "secret", null]);
});

Deno.test("http: answers are read by the letter of HTTP/1.1", async () => {
  const cases: readonly [string, string | RegExp][] = [
    ["HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi and more", "hi"],
    ["HTTP/1.0 200\r\n\r\nuntil the end", "until the end"],
    ["HTTP/1.1 103 Early\r\nlink: x\r\n\r\nHTTP/1.1 200 OK\ncontent-length: 2\n\nok", "ok"],
    [
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n0a\r\n0123456789\r\n0\r\nx: y\r\n\r\n",
      "abc0123456789",
    ],
    ["HTTP/1.1 204 None\r\ncontent-length: 5\r\n\r\n", ""],
    ["HTTP/1.1 200 OK\r\ncontent-length: 2, 2\r\n\r\nok", "ok"],
    ["HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 0\r\n\r\n", ""],
    ["HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhi", /: the connection ended after 2 of 9 bytes$/],
    [
      "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nhi!",
      /: expected one content-length, found "2, 3"$/,
    ],
    ["HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\nhi", /: expected one content-length, found "-1"$/],
    [
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nab",
      /: the connection ended after 2 of 3 bytes$/,
    ],
    [
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nabc\r\n0\r\n\r\n",
      /a chunk of the body is longer than it says|line of its head/,
    ],
    [
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
      /: expected the size of a chunk, found "zz"$/,
    ],
    ["SSH-2.0-server\r\n", /: expected an answer in HTTP\/1.1, found "SSH-2.0-server"$/],
    [
      "HTTP/1.1 200 OK\r\nno header\r\n\r\n",
      /: expected a header line such as "name: value", found "no header"$/,
    ],
    ["", /: the connection ended before there was an answer$/],
    [
      `HTTP/1.1 200 OK\r\nlong: ${"x".repeat(70_000)}\r\n\r\n`,
      /: a line of its head is longer than \d+ bytes$/,
    ],
  ];
  for (const [answer, expected] of cases) {
    await withRawServer(answer, async (port) => {
      const fetching = hostHttp({ check() {} }).fetch(`http://127.0.0.1:${port}/`);
      if (typeof expected === "string") assert.equal(text((await fetching).body), expected, answer);
      else await assert.rejects(fetching, { message: expected }, answer);
    });
  }
});

Deno.test("http: headers of the answer are plain data", async () => {
  await withRawServer(
    "HTTP/1.1 200 OK\r\n__proto__: x\r\nSet-Cookie: a\r\nset-cookie: b\r\ncontent-length: 0\r\n\r\n",
    async (port, received) => {
      const { headers } = await hostHttp({ check() {} }).fetch(`http://127.0.0.1:${port}/p`);
      assert.deepEqual(Object.entries(headers), [["__proto__", "x"], ["set-cookie", "a, b"], [
        "content-length",
        "0",
      ]]);
      assert.equal(Object.getPrototypeOf(headers), Object.prototype);
      assert.deepEqual(received[0]?.split("\r\n"), [
        "GET /p HTTP/1.1",
        `host: 127.0.0.1:${port}`,
        "connection: close",
        "accept: */*",
        "user-agent: orrery",
        `accept-encoding: ${acceptedEncodings()}`,
        "",
        "",
      ]);
    },
  );
});

Deno.test("http: nobody there is a clear error", async () => {
  const http = hostHttp({ check() {} });
  const listener = Deno.listen({ port: 0, hostname: "127.0.0.1" });
  const { port } = listener.addr;
  listener.close();
  await assert.rejects(http.fetch(`http://127.0.0.1:${port}/`), {
    message:
      `Cannot fetch "http://127.0.0.1:${port}/": nothing answers at 127.0.0.1:${port} (connection refused)`,
  });
  await assert.rejects(http.fetch("http://no-such-host.invalid/"), {
    message:
      `Cannot fetch "http://no-such-host.invalid/": there is no address for the host "no-such-host.invalid"`,
  });
});

/** Makes a certificate authority and a certificate for localhost with it; undefined where there is no openssl. */
async function maybeCertificates(
  folder: string,
): Promise<{ ca: string; cert: string; key: string } | undefined> {
  Deno.writeTextFileSync(
    join(folder, "leaf.ext"),
    "subjectAltName=DNS:localhost\nbasicConstraints=CA:FALSE\n",
  );
  const script = `set -e
    key="-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes"
    openssl req -x509 $key -keyout ca.key -out ca.pem -days 2 -subj /CN=orrery-test-ca -addext basicConstraints=critical,CA:TRUE
    openssl req $key -keyout leaf.key -out leaf.csr -subj /CN=localhost
    openssl x509 -req -in leaf.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile leaf.ext -out leaf.pem`;
  const command = new Deno.Command("sh", {
    args: ["-c", script],
    cwd: folder,
    stdout: "null",
    stderr: "null",
  });
  if (!(await command.output()).success) return undefined;
  const read = (name: string) => Deno.readTextFileSync(join(folder, name));
  return { ca: read("ca.pem"), cert: read("leaf.pem"), key: read("leaf.key") };
}

async function withTlsServer(
  work: (options: { port: number; ca: string; folder: string }) => Promise<void>,
): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "orrery-tls-" });
  try {
    const made = await maybeCertificates(folder);
    if (made === undefined) {
      return console.log("not run here: openssl, which makes the certificate, is missing or too old");
    }
    const { ca, cert, key } = made;
    Deno.writeTextFileSync(join(folder, "ca.pem"), ca);
    const server = Deno.serve(
      { port: 0, hostname: "127.0.0.1", cert, key, onListen() {} },
      () => new Response("over TLS"),
    );
    await work({ port: server.addr.port, ca, folder }).finally(() => server.shutdown());
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("http: TLS is spoken with the checked address, for the name of the URL", () =>
  withTlsServer(async ({ port, ca }) => {
    const http = hostHttp({ check() {}, caCerts: [ca] });
    assert.equal(text((await http.fetch(`https://localhost:${port}/`)).body), "over TLS");
    const wrongName = http.fetch(`https://127.0.0.1:${port}/`);
    await assert.rejects(
      wrongName,
      /the certificate of 127\.0\.0\.1:\d+ is not accepted: invalid peer certificate/,
    );
    const unknown = hostHttp({ check() {} }).fetch(`https://localhost:${port}/`);
    await assert.rejects(unknown, /the certificate of localhost:\d+ is not accepted: .*UnknownIssuer/);
  }));

Deno.test("http: where Deno knows hosts by name only, the address is checked before anything is sent", () =>
  withTlsServer(async ({ port, folder }) => {
    const script = join(folder, "probe.ts");
    Deno.writeTextFileSync(
      script,
      `
      import { hostHttp } from ${JSON.stringify(import.meta.resolve("../../lib/host/http/http.ts"))};
      const caCerts = [Deno.readTextFileSync(${JSON.stringify(join(folder, "ca.pem"))})];
      const asked = [];
      const url = "https://localhost:${port}/";
      const allowed = await hostHttp({ caCerts, check: ({ value, address }) => void asked.push([value, address ?? null]) }).fetch(url);
      const check = ({ address }) => { if (address) throw new Error("refused " + address); };
      const refused = await hostHttp({ caCerts, check }).fetch(url).catch((error) => error.message);
      console.log(JSON.stringify({ status: allowed.status, asked, refused }));
    `,
    );
    for (const allowNet of ["localhost", `localhost:${port}`]) {
      const args = [
        "run",
        "--no-lock",
        "--no-check",
        "--no-prompt",
        `--allow-read=${folder}`,
        `--allow-net=${allowNet}`,
        script,
      ];
      const { stdout, stderr } = await new Deno.Command(Deno.execPath(), { args }).output();
      assert.equal(text(stderr), "", allowNet);
      const { status, asked, refused } = JSON.parse(text(stdout));
      assert.equal(status, 200);
      assert.deepEqual(asked[0], [`localhost:${port}`, null]);
      assert.deepEqual(asked.at(-1), [`localhost:${port}`, "127.0.0.1"]);
      assert.match(refused, /refused (127\.0\.0\.1|::1)/);
    }
  }));
