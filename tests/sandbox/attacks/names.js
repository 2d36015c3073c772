// Names whose addresses are this machine, now or a moment later.
const URLS = [
  "http://public.test:8080/",
  "http://public.test:8080/inside",
  "http://public.test:8080/loopback",
  "http://public.test:8080/rebind",
  "http://public.test:8080/zero",
  "http://inside.test:8080/",
  "http://mixed.test:8080/",
  "http://mixed2.test:8080/",
  "http://v6.test:8080/",
  "http://mapped.test:8080/",
  "http://alias.test:8080/",
  "http://private.test:8080/",
  "http://metadata.test:8080/",
  "http://zero.test:8080/",
];
const OFTEN = ["http://rebind.test:8080/", "http://rebind2.test:8080/", "http://rebind3.test:8080/"];

async function answer(url) {
  try {
    return await (await fetch(url, { signal: AbortSignal.timeout(3000) })).text();
  } catch {
    return "refused";
  }
}

export default {
  name: "Attack",
  description: "Test.",
  async run() {
    const answers = {};
    for (const url of URLS) answers[url] = await answer(url);
    for (const url of OFTEN) {
      const all = [];
      for (let n = 0; n < 12; n++) all.push(await answer(url));
      all.push(...await Promise.all(Array.from({ length: 12 }, () => answer(url))));
      answers[url] = [...new Set(all)].sort().join();
    }
    return answers;
  },
};
