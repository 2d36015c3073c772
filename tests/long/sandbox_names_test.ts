// Names of hosts whose addresses change, and answers that send on: nothing on this machine is asked.

import assert from "node:assert/strict";
import { join } from "node:path";
import { PROJECT_ROOT, runProgram } from "../_run.ts";
import { attackPlace, callOf } from "../sandbox/_place.ts";

const HERE = join(PROJECT_ROOT, "tests/sandbox");

/** A network of its own with a public address, whose resolver is on loopback. */
const NETWORK =
  'ip link set lo up && ip addr add 93.184.216.34/32 dev lo && mount --bind "$0" /etc/resolv.conf && exec "$@"';

/** The command that runs another one in such a network; undefined where there can be none. */
async function ownNetwork(folder: string): Promise<readonly string[] | undefined> {
  const file = join(folder, "resolv.conf");
  await Deno.writeTextFile(file, "nameserver 127.0.0.1\noptions timeout:2 attempts:2\n");
  const command = ["unshare", "--map-root-user", "--mount", "--net", "sh", "-c", NETWORK, file];
  const { code, stderr } = await runProgram([...command, "true"]).catch((error) => ({
    code: 1,
    stderr: String(error),
  }));
  if (code === 0) return command;
  console.log(
    `not run here: names whose addresses change, since there can be no network of its own: ${stderr.trim()}`,
  );
  return undefined;
}

/** A name whose addresses are sometimes public: then it may be answered. */
const isSometimesPublic = (url: string): boolean =>
  url.endsWith("/rebind") || (/rebind|mixed/.test(url) && !url.includes("public.test"));

async function tryNames(grant: string): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "orrery-names-" });
  try {
    const network = await ownNetwork(folder);
    if (network === undefined) return;
    const binary = Deno.env.get("ORRERY_BINARY");
    const { code, stdout, stderr } = await runProgram(
      [...network, Deno.execPath(), "run", "-A", "--quiet", join(HERE, "_names_here.ts"), grant],
      { timeoutMs: 120_000, ...(binary === undefined ? {} : { env: { ORRERY_BINARY: binary } }) },
    );
    assert.equal(code, 0, stderr);
    const { result, error, loopback, fetched, asked, stdout: told } = JSON.parse(stdout);
    assert.ok(typeof result === "object" && result !== null, error || told);
    assert.deepEqual(loopback, [], "the server on loopback was asked");
    assert.ok(!told.includes("TOPSECRET"), told);
    for (const [url, answer] of Object.entries(result)) {
      const wanted = url === "http://public.test:8080/" ? ["public"] : ["refused"];
      const allowed = isSometimesPublic(url) ? ["public", "refused", "public,refused"] : wanted;
      assert.ok(allowed.includes(String(answer)), `${url}: ${answer}`);
    }
    const isRight = (each: unknown) => each === "refused" || JSON.stringify(each).includes("public");
    assert.ok(fetched.every(isRight), JSON.stringify(fetched));
    assert.ok(JSON.stringify(asked).includes("rebind.test"), "the resolver was asked");
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

for (
  const [what, grant] of [["all hosts", "all"], ["a domain", "*.test:8080"], ["each name", "each"]] as const
) {
  Deno.test(`sandbox names: addresses that change after the check, redirects to loopback; granted: ${what}`, () =>
    tryNames(grant));
}

/** A server that sends on to `port`, which is not granted, and to other places, and counts nothing: the other one does. */
function redirecting(port: number, secretFile: string): Deno.HttpServer<Deno.NetAddr> {
  const targets: Readonly<Record<string, string>> = {
    "/loopback": `http://127.0.0.1:${port}/`,
    "/localhost": `http://localhost:${port}/`,
    "/ipv6": `http://[::1]:${port}/`,
    "/decimal": `http://2130706433:${port}/`,
    "/mapped": `http://[::ffff:127.0.0.1]:${port}/`,
    "/file": `file://${secretFile}`,
    "/data": "data:text/plain,TOPSECRET",
    "/credentials": `http://a:b@127.0.0.1:${port}/`,
    "/chain": "/loopback",
    "/scheme-relative": `//127.0.0.1:${port}/`,
  };
  return Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, ({ url, method }) => {
    const location = targets[new URL(url).pathname] ?? "/";
    return new Response(null, { status: method === "POST" ? 307 : 302, headers: { location } });
  });
}

Deno.test("sandbox names: a redirect to a port that was not granted", async () => {
  await using place = await attackPlace({
    "gadgets/_ways.js": await Deno.readTextFile(join(HERE, "attacks/_ways.js")),
  });
  await using server = redirecting(place.port, join(place.outside, "secret.txt"));
  const granted = String(server.addr.port);
  const text = await Deno.readTextFile(join(HERE, "attacks/redirects.js"));
  await place.add("gadgets/attack.js", text.replaceAll("@GRANTED@", granted));
  const run = await place.run(callOf("Attack:a"), {
    args: ["--allow-gadget", `Attack=net:127.0.0.1:${granted}`],
    timeoutSeconds: 20,
  });
  const { result, error } = run.outcome("a");
  assert.ok(typeof result === "object" && result !== null && "got" in result, error);
  assert.deepEqual(result.got, []);
  await place.assertHarmless(run);
});
