export default {
  name: "FetchLocal",
  description: "Asks a server.",
  input: { type: "object", properties: { url: { type: "string" } }, required: ["url"] },
  permissions: { net: ["127.0.0.1"] },
  async run({ url }: { url: string }, { signal }: { signal: AbortSignal }) {
    const got = await fetch(`${url}/json?x=1`, { signal, headers: { "x-own": "yes" } });
    const posted = await fetch(
      new Request(`${url}/echo`, { method: "POST", body: JSON.stringify({ a: [1, "ü"] }) }),
    );
    const moved = await fetch(`${url}/moved`);
    const missing = await fetch(`${url}/missing`);
    const bytes = new Uint8Array(await (await fetch(new URL("/bytes", url))).arrayBuffer());
    return {
      json: await got.json(),
      type: got.headers.get("content-type"),
      posted: await posted.json(),
      moved: [moved.status, new URL(moved.url).pathname, await moved.text()],
      missing: [missing.ok, missing.status],
      bytes: [...bytes],
    };
  },
};
