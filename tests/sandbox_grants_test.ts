// What a gadget may do: grants as they are written, in words, as a policy, and who has the say.
// What gadgets really used: counted where their policy is asked, kept over runs, and `orrery trust --minimise`.
import fc from "fast-check";
import assert from "node:assert/strict";
import {
  type PermissionKind,
  PermissionRefused,
  type Permissions,
  type Policy,
  SourceError,
  type User,
} from "../mod.ts";
import type { GadgetToGrant, LockedGadget } from "../lib/core/catalog.ts";
import { askGrant, grantQuestion, grantRefused } from "../lib/policy/ask_grant.ts";
import { decideGrant, type GrantSources, lockedGadget } from "../lib/policy/decide_grant.ts";
import {
  gadgetGrantFlags,
  gadgetGrantValues,
  grantProblems,
  parseGadgetGrants,
} from "../lib/policy/gadget_grants.ts";
import { gadgetPolicy } from "../lib/policy/policy.ts";
import { countedPolicy, minimisedPermissions, UseTally } from "../lib/policy/use_tally.ts";
import {
  entryHolds,
  joinedPermissions,
  missingPermissions,
  permissionChanges,
  permissionLines,
} from "../lib/policy/permission_sets.ts";
import { NO_POLICY_FLAGS, parsePolicyFlags } from "../lib/policy/policy_settings.ts";
import { join } from "node:path";
import { alone } from "../lib/host/files/journal_files.ts";
import { hostFiles } from "../lib/host/files/files.ts";
import { gadgetUse, keepGadgetUse } from "../lib/project/trust/gadget_use.ts";

const ROOT = "/project";
const PLACE = { root: ROOT };
const CWD = { cwd: "/project/sub" };

function parseProblem(value: string): string {
  try {
    parseGadgetGrants([value], CWD);
  } catch (error) {
    assert.ok(error instanceof SourceError);
    return error.message;
  }
  assert.fail(`${value} was read`);
}

Deno.test("--allow-gadget: kinds, lists, commas, all of a kind; flags of one name add up", () => {
  assert.deepEqual(
    parseGadgetGrants([
      "Fetch=net:example.com,api.example.com:443",
      "Fetch=read:data,a,,b",
      "fetch.ts=env",
      "Fetch=net:[::1]:80",
      "Fetch=run:git,./tool",
    ], CWD),
    [
      {
        name: "Fetch",
        permissions: {
          read: ["/project/sub/data", "/project/sub/a,b"],
          net: ["example.com", "api.example.com:443", "[::1]:80"],
          run: ["git", "/project/sub/tool"],
        },
      },
      { name: "fetch.ts", permissions: { env: true } },
    ],
  );
  assert.deepEqual(parseGadgetGrants(["A=net:x", "A=net"], CWD), [{ name: "A", permissions: { net: true } }]);
  assert.deepEqual(parseGadgetGrants(["A=net:read:80"], CWD), [{
    name: "A",
    permissions: { net: ["read:80"] },
  }]);
});

Deno.test("--allow-gadget: every mistake names the flag and what to write", () => {
  const form =
    "expected NAME=KIND:VALUE,... such as Fetch=net:example.com, or NAME=KIND for all of a kind; " +
    "--trust NAME grants what the gadget asks for";
  const kinds = "expected one of read, write, net, run, env, sys";
  const rows: readonly (readonly [string, string])[] = [
    ["Fetch", `--allow-gadget Fetch: ${form}`],
    ["=net", `--allow-gadget =net: ${form}`],
    ["", `--allow-gadget '': ${form}`],
    ["F=", `--allow-gadget F=: found no kind, ${kinds}.`],
    ["F=nett:x", `--allow-gadget F=nett:x: found the kind "nett", ${kinds}. Did you mean "net"?`],
    [
      "F=all",
      `--allow-gadget F=all: found the kind "all", ${kinds}; --trust F grants all that the gadget asks for`,
    ],
    ["F=ffi", `--allow-gadget F=ffi: found the kind "ffi", which no gadget can have; ${kinds}`],
    [
      "F=net:",
      "--allow-gadget F=net:: a value of the list is empty: write F=net for everything, or a list divided by commas",
    ],
    [
      "F=net:a.com,read:data",
      '--allow-gadget F=net:a.com,read:data: "read:data" begins like another kind: give it a flag of its own, F=read:data',
    ],
    [
      "F=read:a,net:b",
      '--allow-gadget F=read:a,net:b: "net:b" begins like another kind: give it a flag of its own, F=net:b; a file of that name is ./net:b',
    ],
    ["F=run:*", "--allow-gadget 'F=run:*': \"*\" is no command: write F=run for every command"],
  ];
  for (const [value, message] of rows) assert.equal(parseProblem(value), message);
  assert.match(
    parseProblem("F=net:http://x"),
    /--allow-gadget F=net:http:\/\/x: expected a host .*found a URL$/,
  );
  assert.match(parseProblem("F=read:a\0"), /NUL/);
});

const KINDS: readonly PermissionKind[] = ["read", "write", "net", "run", "env", "sys"];
const host = fc.constantFrom(
  "example.com",
  "a.b.example:8443",
  "*.example.org",
  "10.0.0.0/8",
  "[::1]:80",
  "1.2.3.4",
);
const path = fc.stringMatching(/^\/[a-z ,:'"é]{1,12}$/);
const word = fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_]{0,8}$/);
const listOf = (kind: PermissionKind) =>
  fc.uniqueArray(kind === "net" ? host : kind === "read" || kind === "write" ? path : word, {
    minLength: 1,
    maxLength: 4,
  });
const permissions: fc.Arbitrary<Permissions> = fc.record(
  Object.fromEntries(KINDS.map((kind) => [kind, fc.oneof(fc.constant(true as const), listOf(kind))])),
  { requiredKeys: [] },
);

Deno.test("--allow-gadget: what is written is read back, whatever stands in it", () => {
  fc.assert(fc.property(word, permissions, (name, given) => {
    const values = gadgetGrantValues({ name, permissions: given });
    const back = parseGadgetGrants(values, { cwd: "/" });
    assert.deepEqual(back[0]?.permissions ?? {}, joinedPermissions([given]));
  }));
});

Deno.test("--allow-gadget: any text is read or is an error that names the flag", () => {
  fc.assert(fc.property(fc.oneof(fc.string(), fc.string().map((text) => `A=${text}`)), (value) => {
    try {
      parseGadgetGrants([value], CWD);
    } catch (error) {
      assert.ok(error instanceof SourceError, String(error));
      assert.match(error.message, /^--allow-gadget /);
      assert.doesNotMatch(error.message.slice(0, 15), /\p{Cc}/u);
    }
  }));
});

Deno.test("grants of orrery.yaml: what is wrong with an entry, and where", () => {
  assert.deepEqual(grantProblems("trusted"), []);
  assert.deepEqual(
    grantProblems({ read: true, net: ["a.com", "http://x"], run: ["*"], env: ["A*B"] }).map(({ path }) =>
      path
    ),
    [
      ["net", 1],
      ["run", 0],
      ["env", 0],
    ],
  );
});

Deno.test("permission sets: joined holds each part; nothing is missing from itself; true holds everything", () => {
  fc.assert(fc.property(permissions, permissions, (a, b) => {
    const both = joinedPermissions([a, b]);
    assert.deepEqual(missingPermissions(a, both, PLACE), {});
    assert.deepEqual(missingPermissions(b, both, PLACE), {});
    const all = Object.fromEntries(KINDS.map((kind) => [kind, true as const]));
    assert.deepEqual(missingPermissions(a, all, PLACE), {});
    assert.deepEqual(permissionChanges(a, a, PLACE), []);
  }));
});

Deno.test("permission sets: an entry holds what is inside it and nothing else", () => {
  const missing = (asked: Permissions, granted: Permissions) => missingPermissions(asked, granted, PLACE);
  assert.deepEqual(missing({ read: ["data/sub", "./data/"] }, { read: ["data"] }), {});
  assert.deepEqual(missing({ read: ["database"] }, { read: ["data"] }), { read: ["database"] });
  assert.deepEqual(missing({ read: ["/project/a"] }, { read: ["."] }), {});
  assert.deepEqual(missing({ net: ["a.com:443"] }, { net: ["a.com"] }), {});
  assert.deepEqual(missing({ net: ["a.com"] }, { net: ["a.com:443"] }), { net: ["a.com"] });
  assert.deepEqual(missing({ net: ["*.x.a.com"] }, { net: ["*.a.com"] }), {});
  assert.deepEqual(missing({ net: ["x.a.com"] }, { net: ["*.a.com"] }), {});
  const local = { net: ["x.localhost"] }; // by itself it opens this machine, as a part of a domain it does not
  assert.deepEqual(missing(local, { net: ["*.localhost"] }), local);
  assert.deepEqual(missing({ env: ["APP_KEY"] }, { env: ["APP_*"] }), {});
  assert.deepEqual(missing({ run: ["git"] }, { run: ["/usr/bin/git"] }), { run: ["git"] });
});

Deno.test("permissions in words", () => {
  const sightOf = (real: string) => ({ real, isFile: real.endsWith(".txt"), named: [] });
  assert.deepEqual(
    permissionLines({ read: ["units.txt", "data"], write: ["/etc/a.txt"] }, { ...PLACE, sightOf }),
    [
      "read units.txt",
      "read data and everything in it",
      "write, change and delete /etc/a.txt, outside the project",
    ],
  );
  assert.deepEqual(
    permissionLines({
      read: ["data/", ".", "/etc/hosts", "/"],
      write: ["out"],
      net: ["example.com:443", "*.example.org", "localhost:8080", "10.0.0.0/8", "[::1]:80", "1.1.1.1"],
      run: ["git", "./tool"],
      env: ["HOME", "APP_*"],
      sys: ["hostname"],
    }, PLACE),
    [
      "read data and everything in it",
      "read everything in the project",
      "read /etc/hosts and everything in it, outside the project",
      "read everything in /, far more than the project",
      "write, change and delete out and everything in it",
      "connect to example.com, port 443 only",
      "connect to example.org and every host below it",
      "connect to localhost, on this machine, port 8080 only",
      "connect to 10.0.0.0/8, which is not public (private)",
      'connect to "[::1]", which is not public (loopback), port 80 only',
      "connect to 1.1.1.1",
      "run git, which can do whatever you can",
      "run ./tool, which can do whatever you can",
      "read the variable HOME",
      "read every variable that begins with APP_",
      "ask the system for hostname",
    ],
  );
  const all = permissionLines({ net: ["a.com"], read: true, env: true }, PLACE);
  assert.deepEqual(all, [
    "read every file that you can read",
    "read every variable of the environment, keys and passwords too",
    "connect to a.com",
  ]);
});

Deno.test("permissions in words: nothing of a manifest looks like our words, long lists say how long they are", () => {
  fc.assert(fc.property(fc.string(), fc.constantFrom(...KINDS), (entry, kind) => {
    for (const line of permissionLines({ [kind]: [entry] }, PLACE)) {
      assert.doesNotMatch(line, /[\p{Cc}\p{Cf}\u2028\u2029]/u);
    }
  }));
  assert.deepEqual(permissionLines({ env: ["A\n  and nothing else"] }, PLACE), [
    'read the variable "A\\n  and nothing else"',
  ]);
  const many = permissionLines({ env: Array.from({ length: 40 }, (_, index) => `V${index}`) }, {
    ...PLACE,
    most: 12,
  });
  assert.deepEqual([many.length, many.at(-1)], [13, "and 28 more of env, 40 in all"]);
});

Deno.test("the difference of permissions in words", () => {
  assert.deepEqual(
    permissionChanges({ read: ["data"], net: true, env: ["A"] }, {
      read: ["data/sub", "etc"],
      net: ["a.com"],
      env: ["A"],
    }, PLACE),
    [
      "now also: read etc and everything in it",
      "no longer: connect to every public host",
      "no longer: read data and everything in it",
    ],
  );
});

// the policy

const policyOf = (granted: Permissions, more: Partial<Parameters<typeof gadgetPolicy>[2]> = {}) =>
  gadgetPolicy("Fetch", granted, { root: ROOT, cwd: ROOT, settings: NO_POLICY_FLAGS, ...more });

function refused(
  policy: ReturnType<typeof policyOf>,
  request: { readonly kind: PermissionKind; readonly value: string; readonly address?: string },
): PermissionRefused | undefined {
  try {
    policy.check(request);
    return undefined;
  } catch (error) {
    assert.ok(error instanceof PermissionRefused);
    return error;
  }
}

Deno.test("gadget policy: nothing by default, not even the project, whatever the run may do", () => {
  const settings = parsePolicyFlags([{ name: "allow-all", value: true }, { name: "allow-net", value: true }]);
  const policy = policyOf({}, { settings });
  const values: readonly (readonly [PermissionKind, string])[] = [
    ["read", "/project"],
    ["read", "/project/a"],
    ["write", "/project/.orrery/x"],
    ["net", "example.com:443"],
    ["run", "git"],
    ["env", "HOME"],
    ["sys", "hostname"],
  ];
  for (const [kind, value] of values) {
    const error = refused(policy, { kind, value });
    assert.match(error?.flag ?? "", new RegExp(`^--allow-gadget Fetch=${kind}:`), `${kind} ${value}`);
  }
  assert.equal(
    refused(policy, { kind: "net", value: "example.com:443" })?.message,
    'Connecting to "example.com:443" is not allowed for gadget "Fetch": add --allow-gadget Fetch=net:example.com:443',
  );
});

Deno.test("gadget policy: the flag of a refusal is enough", () => {
  const value = fc.oneof(
    fc.tuple(
      fc.constantFrom<PermissionKind>("read", "write"),
      fc.oneof(path, path.map((each) => `/project/sub${each}`)),
    ),
    fc.tuple(
      fc.constant<PermissionKind>("net"),
      fc.constantFrom("a.com:443", "1.1.1.1:80", "[2606:4700::1]:443"),
    ),
    fc.tuple(fc.constantFrom<PermissionKind>("env", "run", "sys"), word),
  );
  fc.assert(fc.property(value, ([kind, value]) => {
    const error = refused(policyOf({}, CWD), { kind, value });
    assert.ok(error !== undefined);
    const typed = error.message.slice(
      error.message.indexOf("Fetch=", error.message.indexOf("--allow-gadget")),
    );
    const flag = /^--allow-gadget (.*)$/s.exec(error.flag)?.[1] ?? assert.fail(error.flag);
    assert.ok(typed.length > 0);
    const [grant] = parseGadgetGrants([unquoted(flag)], CWD);
    assert.equal(refused(policyOf(grant?.permissions ?? {}, CWD), { kind, value }), undefined, error.flag);
  }));
});

/** As a POSIX shell reads the one word. */
function unquoted(text: string): string {
  return text.startsWith("'") ? text.slice(1, -1).replaceAll(`'\\''`, "'") : text;
}

Deno.test("gadget policy: deny flags of the run are on top, private addresses have to be named", () => {
  const settings = parsePolicyFlags([{ name: "deny-read", value: "/project/keys" }, {
    name: "deny-net",
    value: "b.com",
  }]);
  const policy = policyOf({ read: ["."], net: true }, { settings });
  assert.equal(refused(policy, { kind: "read", value: "/project/a" }), undefined);
  const denied = refused(policy, { kind: "read", value: "/project/keys/a" });
  assert.deepEqual([denied?.flag, /--deny-read=\/project\/keys forbids it/.test(denied?.message ?? "")], [
    "",
    true,
  ]);
  assert.equal(refused(policy, { kind: "net", value: "b.com:443" })?.flag, "");
  assert.equal(refused(policy, { kind: "net", value: "a.com:443", address: "1.1.1.1" }), undefined);
  const inner = refused(policy, { kind: "net", value: "a.com:443", address: "10.0.0.1" });
  assert.match(inner?.message ?? "", /it leads to 10\.0\.0\.1, which is not public \(private\)/);
  assert.equal(inner?.flag, "--allow-gadget Fetch=net:10.0.0.1:443");
  const wiki = { kind: "net", value: "wiki.corp:443", address: "10.0.0.5" } as const;
  assert.equal(
    refused(policyOf({ net: ["wiki.corp"] }), wiki)?.flag,
    "--allow-gadget Fetch=net:10.0.0.5:443",
  );
  assert.equal(refused(policyOf({ net: ["wiki.corp", "10.0.0.5:443"] }), wiki), undefined);
  assert.equal(refused(policyOf({ net: ["wiki.corp", "10.0.0.0/8"] }), wiki), undefined);
  const named = policyOf({ net: ["localhost:80"] });
  assert.equal(refused(named, { kind: "net", value: "localhost:80", address: "127.0.0.1" }), undefined);
});

Deno.test("gadget policy: what Orrery itself believes is never written, nor the folder that it is in", () => {
  const policy = policyOf({ write: true, read: true }, { sealed: ["/home/me/.local/state/orrery"] });
  const sealed = [
    "/project/.orrery/orrery.db",
    "/project/.orrery/orrery.db-wal",
    "/project/.orrery/gadgets.json",
    "/project/orrery.lock",
    "/project/Orrery.LOCK",
    "/project/.orrery",
    "/project",
    "/",
    "/home/me/.local/state/orrery/trusted.json",
    "/home/me/.local/state",
  ];
  for (const value of sealed) assert.equal(refused(policy, { kind: "write", value })?.flag, "", value);
  for (
    const value of ["/project/out", "/project/.orrery/x", "/project/orrery.yaml", "/home/me/.local/bin/x"]
  ) {
    assert.equal(refused(policy, { kind: "write", value }), undefined, value);
  }
  assert.equal(refused(policy, { kind: "read", value: "/project/orrery.lock" }), undefined);
  for (const name of ["orrery.db", "orrery.db-token", "ORRERY.DB-token"]) {
    assert.equal(refused(policy, { kind: "read", value: `/project/.orrery/${name}` })?.flag, "", name);
  }
  assert.equal(refused(policy, { kind: "read", value: "/proc/self/environ" })?.request.kind, "read");
});

Deno.test("gadget policy: paths are relative to the root, links of granted paths are followed within it", () => {
  const policy = policyOf({ read: ["data"], run: ["./bin/tool", "git"] }, {
    cwd: "/project/sub",
    realPath: (path) => path.replace("/project/data", "/project/kept"),
  });
  assert.equal(refused(policy, { kind: "read", value: "/project/kept/a" }), undefined);
  const realPath = (path: string) => path.replace("/project/data", "/mnt/data");
  const outside = policyOf({ read: ["data", "/mnt/other"] }, { cwd: "/project", realPath });
  assert.ok(refused(outside, { kind: "read", value: "/mnt/data/a" }));
  assert.equal(refused(outside, { kind: "read", value: "/mnt/other/a" }), undefined);
  assert.ok(refused(policy, { kind: "read", value: "/project/sub/data" }));
  assert.equal(refused(policy, { kind: "run", value: "/project/bin/tool" }), undefined);
  assert.equal(refused(policy, { kind: "run", value: "git" }), undefined);
  assert.equal(refused(policy, { kind: "run", value: "*" })?.flag, "--allow-gadget Fetch=run");
  assert.deepEqual(policy.describe(), [
    "read data and everything in it",
    "run ./bin/tool, which can do whatever you can",
    "run git, which can do whatever you can",
  ]);
});

// who has the say

const HASH = "0".repeat(64);
const OTHER = "1".repeat(64);
const FETCH: GadgetToGrant = {
  name: "Fetch",
  file: "/project/gadgets/fetch.ts",
  permissions: { net: ["example.com:443"], env: ["TOKEN"] },
  modules: [{ path: "/project/gadgets/fetch.ts", sha256: HASH }, {
    path: "/project/gadgets/_http.ts",
    sha256: HASH,
  }],
};
const LOCKED: LockedGadget = lockedGadget(FETCH, PLACE);
const decide = (sources: GrantSources, gadget = FETCH) => decideGrant(gadget, sources, PLACE);

Deno.test("a decision: each source, and what is said outright adds up", () => {
  assert.deepEqual(decide({}), { kind: "open", changes: [] });
  assert.deepEqual(decide({ commandLine: ["trusted"] }), {
    kind: "granted",
    permissions: FETCH.permissions,
    from: ["command line"],
  });
  assert.deepEqual(decide({ commandLine: [{ net: ["example.com:443"] }] }), {
    kind: "granted",
    permissions: { net: ["example.com:443"] },
    from: ["command line"],
  });
  assert.deepEqual(decide({ user: [{ env: ["TOKEN"] }], project: ["trusted"], locked: LOCKED }), {
    kind: "granted",
    permissions: FETCH.permissions,
    from: ["your settings", "the project", "orrery.lock"],
  });
  assert.deepEqual(decide({ commandLine: [{ read: ["data"] }], locked: LOCKED }), {
    kind: "granted",
    permissions: { read: ["data"], ...FETCH.permissions },
    from: ["command line", "orrery.lock"],
  });
});

Deno.test("a decision: a gadget that asks for nothing needs no grant", () => {
  const none = { ...FETCH, permissions: {} };
  assert.deepEqual(decide({}, none), { kind: "granted", permissions: {}, from: [] });
  assert.deepEqual(decide({ isFrozen: true }, none), { kind: "granted", permissions: {}, from: [] });
  assert.deepEqual(decide({}, { ...none, permissions: { net: [] } }).kind, "granted");
});

Deno.test("a decision: a lock counts as long as every module is as it was, and grants no more than it says", () => {
  const [first = assert.fail(), second = assert.fail()] = FETCH.modules;
  const changed = { ...FETCH, modules: [first, { ...second, sha256: OTHER }] };
  assert.deepEqual(decide({ locked: LOCKED }, changed), {
    kind: "open",
    changes: ["gadgets/_http.ts was changed"],
  });
  const more = {
    ...FETCH,
    permissions: { ...FETCH.permissions, read: ["/etc"] },
    modules: [{ ...first, sha256: OTHER }, { path: "/project/gadgets/_new.ts", sha256: HASH }],
  };
  assert.deepEqual(decide({ locked: LOCKED }, more), {
    kind: "open",
    changes: [
      "gadgets/_http.ts is gone",
      "gadgets/_new.ts is new",
      "gadgets/fetch.ts was changed",
      "now also: read /etc and everything in it, outside the project",
    ],
  });
  assert.deepEqual(decide({ locked: LOCKED }, { ...FETCH, name: "Other" }), {
    kind: "open",
    changes: ["it was called Fetch"],
  });
  // The same code that asks for more by itself, or a lock that was minimised.
  assert.deepEqual(decide({ locked: LOCKED }, { ...FETCH, permissions: { net: true } }), {
    kind: "granted",
    permissions: LOCKED.permissions,
    from: ["orrery.lock"],
  });
  // A stale lock takes nothing from what is said outright.
  assert.equal(decide({ locked: LOCKED, commandLine: ["trusted"] }, changed).kind, "granted");
});

Deno.test("a decision: --frozen forbids every difference, and asks nobody", () => {
  const [first = assert.fail()] = FETCH.modules;
  const changed = { ...FETCH, modules: [first] };
  assert.deepEqual(decide({ locked: LOCKED, isFrozen: true }, changed), {
    kind: "frozen",
    changes: ["gadgets/_http.ts is gone"],
  });
  assert.equal(decide({ locked: LOCKED, isFrozen: true, commandLine: ["trusted"] }, changed).kind, "frozen");
  assert.deepEqual(decide({ isFrozen: true }), {
    kind: "frozen",
    changes: ["gadgets/fetch.ts is not in it"],
  });
  assert.equal(decide({ locked: LOCKED, isFrozen: true }).kind, "granted");
});

// the question

const QUESTION = { gadget: FETCH, shownFile: "gadgets/fetch.ts", root: ROOT, cwd: ROOT, changes: [] };

function userWho(
  answer: string | Error,
): User & { readonly asked: { question: string; choices: readonly string[] }[] } {
  const asked: { question: string; choices: readonly string[] }[] = [];
  return {
    canAnswer: true,
    asked,
    ask(question, { choices = [] } = {}) {
      asked.push({ question, choices });
      return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
    },
  };
}

Deno.test("the question: the file, each permission in words, and what changed", async () => {
  const user = userWho("always");
  assert.equal(
    await askGrant({ ...QUESTION, changes: ["gadgets/_http.ts was changed"] }, { user }),
    "always",
  );
  assert.deepEqual(user.asked, [{
    question: [
      "The gadget Fetch of gadgets/fetch.ts asks for this:",
      "  connect to example.com, port 443 only",
      "  read the variable TOKEN",
      "It is not as it was when you allowed it:",
      "  gadgets/_http.ts was changed",
      "Once is for this run, always until a file of it changes (kept in orrery.lock).",
      "Allow it?",
    ].join("\n"),
    choices: ["once", "always", "deny"],
  }]);
  assert.equal(await askGrant(QUESTION, { user: userWho(new Error("the input ended")) }), "deny");
  assert.equal(await askGrant(QUESTION, { user: { ...user, canAnswer: false } }), undefined);
  const many = grantQuestion({
    ...QUESTION,
    changes: Array.from({ length: 30 }, (_, index) => `m${index} is new`),
  });
  assert.match(many, /\n {2}and 18 more\nOnce is for this run/);
});

Deno.test("the refusal: the flags that would help, and none where it was denied", () => {
  const error = grantRefused(QUESTION, { isDenied: false });
  assert.equal(
    error.message,
    'Gadget "Fetch" (gadgets/fetch.ts) is not allowed: it wants to connect to example.com, port 443 only; read the variable TOKEN; ' +
      "add --trust Fetch, which grants that in this run, or the part that you want: --allow-gadget Fetch=net:example.com:443 --allow-gadget Fetch=env:TOKEN",
  );
  assert.equal(error.flag, "--trust Fetch");
  const other = grantRefused(
    { ...QUESTION, word: "gadgets/fetch.ts", allowing: "orrery trust allow gadgets/fetch.ts" },
    { isDenied: false },
  );
  assert.equal(other.flag, "--trust gadgets/fetch.ts");
  assert.match(
    other.message,
    /--allow-gadget gadgets\/fetch\.ts=env:TOKEN; orrery trust allow gadgets\/fetch\.ts allows it for good$/,
  );
  const changed = grantRefused({ ...QUESTION, changes: ["a.ts was changed"] }, { isDenied: false });
  assert.match(
    changed.message,
    /is not as it was when it was allowed \(a\.ts was changed\), so it is not allowed any more/,
  );
  const denied = grantRefused(QUESTION, { isDenied: true });
  assert.deepEqual([denied.flag, denied.message], [
    "",
    'Gadget "Fetch" (gadgets/fetch.ts) was not run: you did not allow it',
  ]);
});

Deno.test("minimised: what was used, never more than was granted", () => {
  const used = (kind: PermissionKind, ...values: readonly string[]) =>
    values.map((value) => ({ kind, value, count: 1 }));
  const minimised = (granted: Permissions, ...all: ReturnType<typeof used>) =>
    minimisedPermissions(granted, all, PLACE);
  assert.deepEqual(
    minimised(
      { read: ["data", "etc"], net: true, env: ["A", "B"], run: ["git"] },
      ...used("read", "/project/data/a.txt"),
      ...used("net", "a.com:443"),
      ...used("env", "B"),
    ),
    { read: ["data/a.txt"], net: ["a.com:443"], env: ["B"] },
  );
  assert.deepEqual(minimised({ net: ["a.com"] }, ...used("net", "a.com:443")), { net: ["a.com:443"] });
  assert.deepEqual(minimised({ net: ["*.a.com"] }, ...used("net", "x.a.com:443")), {
    net: ["x.a.com:443"],
  });
  // As a domain: by itself it opens this machine, which "every host" never did.
  assert.deepEqual(minimised({ net: true }, ...used("net", "localhost:80")), { net: ["*.localhost:80"] });
  const files = Array.from({ length: 20 }, (_, index) => `/project/data/${index}`);
  assert.deepEqual(minimised({ read: ["data", "etc"] }, ...used("read", ...files)), { read: ["data"] });
  assert.deepEqual(minimised({ read: true }, ...used("read", "/etc/hosts", "/project")), {
    read: [".", "/etc/hosts"],
  });
  // Behind a link: nobody knows which entry it was.
  assert.deepEqual(minimised({ read: ["link"] }, ...used("read", "/mnt/a")), { read: ["link"] });
  assert.deepEqual(minimised({ read: ["data"] }), {});
  fc.assert(fc.property(permissions, permissions, (granted, other) => {
    const all = KINDS.flatMap((kind) => {
      const list = other[kind];
      return list === undefined || list === true ? [] : used(kind, ...list);
    });
    const left = minimised(granted, ...all);
    assert.deepEqual(missingPermissions(left, granted, PLACE), {});
  }));
});

Deno.test("grant flags are typed as a shell reads them, with paths as they are seen from the working folder", () => {
  const A = {
    name: "A",
    permissions: { read: ["my files", "/etc"], run: ["git", "tools/x"], net: true },
  } as const;
  assert.deepEqual(gadgetGrantFlags(A, { root: ROOT, cwd: ROOT }), [
    "--allow-gadget 'A=read:my files,/etc'",
    "--allow-gadget A=net",
    "--allow-gadget A=run:git,./tools/x",
  ]);
  assert.deepEqual(gadgetGrantFlags(A, { root: ROOT, cwd: "/project/sub" }), [
    "--allow-gadget 'A=read:/project/my files,/etc'",
    "--allow-gadget A=net",
    "--allow-gadget A=run:git,/project/tools/x",
  ]);
  // Whatever is asked for, the flags grant that and nothing else.
  fc.assert(fc.property(permissions, fc.constantFrom(ROOT, "/project/sub", "/"), (asked, cwd) => {
    const values = gadgetGrantFlags({ name: "A", permissions: asked }, { root: ROOT, cwd });
    if (values.some((value) => /['$]/.test(value))) return; // for a shell to read
    const [granted] = parseGadgetGrants(values.map((value) => value.replace("--allow-gadget ", "")), { cwd });
    assert.deepEqual(missingPermissions(asked, granted?.permissions ?? {}, PLACE), {});
    assert.deepEqual(missingPermissions(granted?.permissions ?? {}, asked, PLACE), {});
  }));
});

Deno.test("use: what was permitted is counted, and nothing else", async () => {
  const refused = new PermissionRefused("no", { request: { kind: "read", value: "/b" }, flag: "" });
  const policy: Policy = {
    check: () => undefined,
    permit({ value }) {
      if (value === "/b") throw refused;
      return value === "/c" ? Promise.resolve() : value === "/d" ? Promise.reject(refused) : undefined;
    },
    describe: () => [],
  };
  const seen: string[] = [];
  const counted = countedPolicy(policy, ({ value }) => void seen.push(value));
  counted.check({ kind: "read", value: "/checked" });
  await counted.permit({ kind: "read", value: "/a" });
  assert.throws(() => counted.permit({ kind: "read", value: "/b" }), refused);
  await counted.permit({ kind: "read", value: "/c" });
  await assert.rejects(async () => await counted.permit({ kind: "read", value: "/d" }), refused);
  assert.deepEqual(seen, ["/a", "/c"]);
});

Deno.test("use: an entry of many values is bounded, and stays whole; others are not lost for it", () => {
  const granted = { read: ["data", "one", "none"], env: ["HOME", "ABSENT"], net: true } as const;
  const tally = new UseTally(granted, PLACE);
  for (let at = 0; at < 1_000; at++) tally.used({ kind: "read", value: `/project/data/${at}` });
  for (let at = 0; at < 3; at++) tally.used({ kind: "read", value: "/project/one/a" });
  tally.used({ kind: "net", value: "example.com:443" });
  for (const value of ["HOME", "PATH", "HOME"]) tally.told({ kind: "env", value }); // what it was not granted it may say for nothing
  const { used } = tally.use;
  assert.ok(used.length < 20, String(used.length));
  assert.equal(used.find(({ value }) => value === "/project/one/a")?.count, 3);
  assert.deepEqual(minimisedPermissions(granted, used, PLACE), {
    read: ["data", "one/a"],
    net: ["example.com:443"],
    env: ["HOME"],
  });
});

Deno.test("use: of many files their folders are left, not the whole grant and not a thousand names", () => {
  const granted = { read: ["."], write: true } as const;
  const tally = new UseTally(granted, PLACE);
  for (let at = 0; at < 1_000; at++) tally.used({ kind: "read", value: `/project/notes/${at % 2}/${at}.md` });
  tally.used({ kind: "read", value: "/project/package.json" });
  for (let at = 0; at < 40; at++) tally.used({ kind: "write", value: `/project/out/${at}/page.html` });
  assert.ok(tally.use.used.length < 30);
  const left = { read: ["notes/0", "notes/1", "package.json"], write: ["out"] };
  assert.deepEqual(minimisedPermissions(granted, tally.use.used, PLACE), left);
  const again = new UseTally(granted, PLACE); // as it is kept, over two runs
  again.add(tally.use);
  again.add(tally.use);
  assert.deepEqual(minimisedPermissions(granted, again.use.used, PLACE), left);
});

Deno.test("use: a folder that was listed says more than the files in it", () => {
  const tally = new UseTally({ read: ["notes", "other"] }, PLACE);
  for (const value of ["/project/notes/a.md", "/project/notes", "/project/notes/b.md"]) {
    tally.used({ kind: "read", value });
  }
  assert.deepEqual(tally.use.used, [{ kind: "read", value: "/project/notes", count: 3 }]);
  assert.deepEqual(minimisedPermissions({ read: ["notes", "other"] }, tally.use.used, PLACE), {
    read: ["notes"],
  });
  const files = ["/project/notes", "/project/notes/a.md"].map((value) => ({
    kind: "read" as const,
    value,
    count: 1,
  }));
  assert.deepEqual(minimisedPermissions({ read: ["notes"] }, files, PLACE), { read: ["notes"] });
});

Deno.test("use: files all over the system need what they were granted", () => {
  const tally = new UseTally({ read: true }, PLACE);
  for (let at = 0; at < 40; at++) tally.used({ kind: "read", value: `/${at}` });
  assert.deepEqual(minimisedPermissions({ read: true }, tally.use.used, PLACE), { read: true });
});

Deno.test("use: bounded or not, added in parts or not, the same is left of a grant", () => {
  const path = fc.tuple(fc.constantFrom("a", "a/b", "c", "elsewhere"), fc.nat(30))
    .map(([folder, file]) => `/project/${folder}/${file}`);
  const entries = fc.uniqueArray(fc.constantFrom("a", "a/b", "c", "a/b/1"), { minLength: 1 });
  fc.assert(fc.property(entries, fc.array(path, { maxLength: 80 }), fc.nat(80), (read, paths, cut) => {
    const granted = { read };
    const all = [...new Set(paths)].map((value) => ({ kind: "read" as const, value, count: 1 }));
    const parts = [paths.slice(0, cut), paths.slice(cut)].map((part) => {
      const tally = new UseTally(granted, PLACE);
      part.forEach((value) => tally.used({ kind: "read", value }));
      return tally.use;
    });
    const sum = new UseTally(granted, PLACE);
    parts.forEach((part) => sum.add(part));
    const left = minimisedPermissions(granted, sum.use.used, PLACE).read ?? [];
    const wanted = minimisedPermissions(granted, all, PLACE).read ?? [];
    assert.ok(left !== true && wanted !== true);
    const holds = (list: readonly string[], value: string) =>
      list.some((entry) => entryHolds(entry, value, { kind: "read", ...PLACE }));
    for (const value of paths) assert.equal(holds(left, value), holds(wanted, value), value);
  }));
});

Deno.test("use: kept over runs for the code that it was; a broken file is counted anew", async () => {
  const folder = await Deno.makeTempDir({ prefix: "orrery-use-" });
  try {
    const place = { root: "/project", state: hostFiles({ root: folder, mode: 0o600 }) };
    const gadget = {
      name: "Fetch",
      file: "gadgets/fetch.ts",
      permissions: { read: true as const },
      modules: { "gadgets/fetch.ts": "00" },
    };
    const run = async (modules: Readonly<Record<string, string>>, value: string) => {
      const tally = new UseTally({ read: true }, place);
      tally.called();
      tally.used({ kind: "read", value });
      await keepGadgetUse([{ gadget: { ...gadget, modules }, tally }], place);
    };
    await run(gadget.modules, "/project/a");
    await run(gadget.modules, "/project/b");
    assert.deepEqual(await gadgetUse(gadget, place), {
      calls: 2,
      used: [{ kind: "read", value: "/project/a", count: 1 }, {
        kind: "read",
        value: "/project/b",
        count: 1,
      }],
    });
    const [file] = [...Deno.readDirSync(join(folder, "gadget-use"))];
    const path = join(folder, "gadget-use", file?.name ?? "");
    if (Deno.build.os !== "windows") assert.equal(((await Deno.stat(path)).mode ?? 0) & 0o777, 0o600);
    await run({ "gadgets/fetch.ts": "11" }, "/project/c");
    assert.equal((await gadgetUse(gadget, place)).calls, 0);
    for (const text of ["{", "[]", '{"version":1,"root":"/other","gadgets":[]}', '{"version":2}']) {
      await Deno.writeTextFile(path, text);
      assert.equal((await gadgetUse(gadget, place)).calls, 0);
    }
    await run(gadget.modules, "/project/d");
    assert.equal((await gadgetUse(gadget, place)).calls, 1);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("use: of runs that end at the same time none is lost", async () => {
  const folder = await Deno.makeTempDir({ prefix: "orrery-use-" });
  try {
    const place = {
      root: "/project",
      state: hostFiles({ root: folder, mode: 0o600 }),
      alone: (name: string, work: () => Promise<void>) => alone(join(folder, name), work),
    };
    const modules = { "gadgets/fetch.ts": "00" };
    const gadget = { name: "Fetch", file: "gadgets/fetch.ts", permissions: { read: true as const }, modules };
    await Promise.all(Array.from({ length: 20 }, async (_, at) => {
      const tally = new UseTally({ read: true }, place);
      tally.called();
      tally.used({ kind: "read", value: `/project/${at % 4}` });
      await keepGadgetUse([{ gadget, tally }], place);
    }));
    const { calls, used } = await gadgetUse(gadget, place);
    assert.equal(calls, 20);
    assert.deepEqual(used.map(({ count }) => count), [5, 5, 5, 5]);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
