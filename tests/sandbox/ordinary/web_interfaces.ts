export default {
  name: "WebInterfaces",
  description: "Uses what every runtime has.",
  async run() {
    const zipped = new Blob(["zip zip"]).stream().pipeThrough(new CompressionStream("gzip"));
    const text = await new Response(zipped.pipeThrough(new DecompressionStream("gzip"))).text();
    const target = new EventTarget();
    let heard = "";
    target.addEventListener("x", ({ type }) => heard = type);
    target.dispatchEvent(new Event("x"));
    const form = new FormData();
    form.set("a", "b");
    const channel = new MessageChannel();
    const message = new Promise((resolve) => channel.port2.onmessage = ({ data }) => resolve(data));
    channel.port1.postMessage({ over: true });
    const over = await message;
    channel.port1.close();
    return {
      text,
      heard,
      over,
      url: new URL("../b?c=d", "https://example.com/a/x").href,
      query: new URLSearchParams({ a: "ü" }).toString(),
      clone: structuredClone({ a: new Map([[1, 2]]) }).a.get(1) ?? null,
      base: atob(btoa("bytes")),
      number: new Intl.NumberFormat("en-US").format(12345.6),
      date: new Date(0).toISOString(),
      headers: [...new Headers({ B: "2", a: "1" })],
      form: [...form.keys()],
      random: crypto.getRandomValues(new Uint8Array(4)).length,
      micro: await new Promise((resolve) => queueMicrotask(() => resolve("micro"))),
      language: typeof navigator.language,
    };
  },
};
