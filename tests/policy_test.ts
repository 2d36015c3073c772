import fc from "fast-check";
import ipaddr from "ipaddr.js";
import assert from "node:assert/strict";
import { dirname, join, normalize } from "node:path";
import {
  FileError,
  memoryFiles,
  type PermissionKind,
  PermissionRefused,
  type PermissionRequest,
  type Policy,
  type ShellResult,
  SourceError,
} from "../mod.ts";
import { exactFiles } from "../lib/host/files/changes.ts";
import { hostFiles } from "../lib/host/files/files.ts";
import { hostHttp } from "../lib/host/http/http.ts";
import { realPath } from "../lib/host/paths.ts";
import { hostShell } from "../lib/host/commands/shell.ts";
import {
  hashOwnWord,
  isAccepted,
  readAccepted,
  withAccepted,
  writeAccepted,
} from "../lib/policy/accepted.ts";
import { type GuardedWorld, guardWorld } from "../lib/policy/guard.ts";
import { privateRange } from "../lib/policy/net_rule.ts";
import { approvingPolicy, createPolicy } from "../lib/policy/policy.ts";
import { parsePolicyFlags, type PolicySettings } from "../lib/policy/policy_settings.ts";

/** Flags as they are typed: `--allow-read=a,b --deny-net`. */
function settingsOf(flags: readonly string[]): PolicySettings {
  return parsePolicyFlags(flags.map((flag) => {
    const [, name = "", value] = /^--([^=]+)(?:=(.*))?$/s.exec(flag) ?? [];
    return { name, value: value ?? true };
  }));
}

function policyOf(flags: readonly string[], options: { root?: string; cwd?: string } = {}): Policy {
  return createPolicy(settingsOf(flags), { root: "/project", cwd: "/project", ...options });
}

function maybeRefusal(policy: Policy, request: PermissionRequest): PermissionRefused | undefined {
  try {
    policy.check(request);
    return undefined;
  } catch (error) {
    assert.ok(error instanceof PermissionRefused, `expected a refusal, found ${error}`);
    return error;
  }
}

type Row = readonly [
  flags: string,
  kind: PermissionKind,
  value: string,
  outcome: "ok" | "no",
  address?: string,
];

const ROWS: readonly Row[] = [
  // the defaults
  ["", "read", "/project", "ok"],
  ["", "read", "/project/a/b.txt", "ok"],
  ["", "read", "/projects/a", "no"],
  ["", "read", "/", "no"],
  ["", "read", "/etc/passwd", "no"],
  ["", "write", "/project/.orrery/x", "ok"],
  ["", "write", "/project/.orrery", "ok"],
  ["", "write", "/project/.orrery-evil", "no"],
  ["", "write", "/project/orrery.yaml", "no"],
  ["", "run", "git", "no"],
  ["", "env", "HOME", "no"],
  ["", "net", "example.com:443", "no"],
  ["", "sys", "hostname", "no"],
  // flags add to the defaults
  ["--allow-read=/data", "read", "/project/a", "ok"],
  ["--allow-read=/data", "read", "/data/x", "ok"],
  ["--allow-read=/data/", "read", "/data/x", "ok"],
  ["--allow-read=/data", "read", "/database", "no"],
  ["--allow-read=/data", "write", "/data/x", "no"],
  ["--allow-read=a,b --allow-read=../c", "read", "/c/x", "ok"],
  ["--allow-read=/a,,b", "read", "/a,b", "ok"],
  ["--allow-read=/a,,b", "read", "/a", "no"],
  ["--allow-read", "read", "/etc/passwd", "ok"],
  ["--allow-write=out", "write", "/project/out/x/y", "ok"],
  ["--allow-write=out", "write", "/project/outside", "no"],
  ["--allow-write=.", "write", "/project/orrery.yaml", "ok"],
  // files of the kernel are meant only when they are named
  ["--allow-read", "read", "/proc/self/environ", "no"],
  ["--allow-read=/", "read", "/proc/1/environ", "no"],
  ["--allow-read=/proc", "read", "/proc/1/environ", "ok"],
  ["--allow-write", "write", "/dev/sda", "no"],
  ["--allow-all", "read", "/proc/self/environ", "ok"],
  // deny wins
  ["--allow-read --deny-read=/project/secrets", "read", "/project/secrets/key", "no"],
  ["--allow-read --deny-read=secrets", "read", "/project/secrets", "no"],
  ["--allow-read --deny-read=secrets", "read", "/project/secrets2", "ok"],
  ["--deny-read=secrets", "read", "/project/secrets/a", "no"],
  ["--deny-read", "read", "/project/a", "no"],
  ["--deny-write", "write", "/project/.orrery/x", "no"],
  ["--allow-all --deny-run=rm", "run", "rm", "no"],
  ["--allow-all --deny-run=rm", "run", "/bin/rm", "no"],
  ["--allow-all --deny-run=/bin/rm", "run", "rm", "no"],
  ["--allow-all --deny-run=/bin/rm", "run", "/usr/local/bin/rm", "ok"],
  ["--allow-all --deny-run=rm", "run", "git", "ok"],
  ["--allow-all --deny-env=*", "env", "HOME", "no"],
  ["--allow-env --deny-env=AWS_*", "env", "AWS_KEY", "no"],
  ["--allow-net --deny-net=example.com", "net", "example.com:443", "no"],
  ["--allow-net --deny-net=example.com", "net", "EXAMPLE.com.:443", "no"],
  ["--allow-net --deny-net=93.184.0.0/16", "net", "example.com:443", "no", "93.184.216.34"],
  ["--allow-net --deny-net=93.184.0.0/16", "net", "example.com:443", "no", "::ffff:93.184.216.34"],
  ["--allow-net=localhost --deny-net=127.0.0.1", "net", "localhost:80", "no", "127.0.0.1"],
  ["--allow-net --deny-net=example.com:80", "net", "example.com:443", "ok"],
  // commands
  ["--allow-run=git", "run", "git", "ok"],
  ["--allow-run=git", "run", "/usr/bin/git", "no"],
  ["--allow-run=git", "run", "git2", "no"],
  ["--allow-run=./tool", "run", "/project/tool", "ok"],
  ["--allow-run=./tool", "run", "tool", "no"],
  ["--allow-run=/usr/bin", "run", "/usr/bin/git", "no"],
  ["--allow-run", "run", "/usr/bin/git", "ok"],
  // variables
  ["--allow-env=HOME,AWS_*", "env", "HOME", "ok"],
  ["--allow-env=HOME,AWS_*", "env", "AWS_KEY", "ok"],
  ["--allow-env=HOME,AWS_*", "env", "HOMES", "no"],
  ["--allow-sys=hostname", "sys", "hostname", "ok"],
  // hosts
  ["--allow-net=example.com", "net", "example.com:443", "ok"],
  ["--allow-net=Example.COM", "net", "example.com:80", "ok"],
  ["--allow-net=bücher.example", "net", "xn--bcher-kva.example:443", "ok"],
  ["--allow-net=example.com", "net", "www.example.com:443", "no"],
  ["--allow-net=example.com", "net", "notexample.com:443", "no"],
  ["--allow-net=example.com:443", "net", "example.com:443", "ok"],
  ["--allow-net=example.com:443", "net", "example.com:80", "no"],
  ["--allow-net=*.example.com", "net", "a.b.example.com:443", "ok"],
  ["--allow-net=*.example.com", "net", "example.com:443", "ok"], // as in Deno
  ["--allow-net=*.example.com", "net", "badexample.com:443", "no"],
  ["--allow-net=[2606:4700::1111]:443", "net", "[2606:4700::1111]:443", "ok"],
  ["--allow-net=[2606:4700::1111]:443", "net", "[2606:4700:0:0::1111]:443", "ok"],
  ["--allow-net=[2606:4700::1111]:443", "net", "[2606:4700::1111]:80", "no"],
  ["--allow-net=1.1.1.0/24", "net", "1.1.1.7:53", "ok"],
  ["--allow-net=1.1.1.0/24", "net", "1.1.2.7:53", "no"],
  ["--allow-net=93.184.216.34", "net", "example.com:443", "no", "93.184.216.34"], // Deno's meaning: the host, by its name
  // private addresses
  ["--allow-net", "net", "example.com:443", "ok", "93.184.216.34"],
  ["--allow-net", "net", "evil.example:80", "no", "127.0.0.1"],
  ["--allow-net", "net", "evil.example:80", "no", "::1"],
  ["--allow-net", "net", "evil.example:80", "no", "::ffff:10.0.0.1"],
  ["--allow-net", "net", "evil.example:80", "no", "64:ff9b::7f00:1"],
  ["--allow-net", "net", "evil.example:80", "no", "2002:7f00:1::"],
  ["--allow-net", "net", "evil.example:80", "no", "169.254.169.254"],
  ["--allow-net", "net", "evil.example:80", "no", "fe80::1%eth0"],
  ["--allow-net", "net", "evil.example:80", "no", "not an address"],
  ["--allow-net", "net", "evil.example:80", "no", ""],
  ["--allow-net", "net", "evil.example:80", "ok", "64:ff9b::5db8:d822"], // NAT64 of a public address
  ["--allow-net", "net", "127.0.0.1:80", "no"],
  ["--allow-net", "net", "[::1]:80", "no"],
  ["--allow-all", "net", "evil.example:80", "no", "127.0.0.1"],
  ["--allow-all", "net", "example.com:443", "ok", "93.184.216.34"],
  ["--allow-all --allow-net=localhost:8080", "net", "localhost:8080", "ok", "127.0.0.1"],
  ["--allow-all --allow-net=localhost:8080", "net", "localhost:8081", "no", "127.0.0.1"],
  ["--allow-net=localhost", "net", "localhost:80", "ok", "::1"],
  ["--allow-net --allow-net=127.0.0.1", "net", "localhost:80", "ok", "127.0.0.1"],
  ["--allow-net --allow-net=127.0.0.1:81", "net", "localhost:80", "no", "127.0.0.1"],
  ["--allow-net=127.1", "net", "127.0.0.1:80", "ok", "127.0.0.1"],
  ["--allow-net=10.0.0.0/8", "net", "10.1.2.3:80", "ok", "10.1.2.3"],
  ["--allow-net=0.0.0.0/0", "net", "10.1.2.3:80", "no", "10.1.2.3"],
  ["--allow-net=0.0.0.0/0", "net", "1.1.1.1:80", "ok", "1.1.1.1"],
  ["--allow-net=*.example.com", "net", "a.example.com:80", "no", "10.0.0.1"],
  // a name is not its address, which has to be named too; nobody's name server speaks for localhost
  ["--allow-net=a.example.com", "net", "a.example.com:80", "no", "10.0.0.1"],
  ["--allow-net=a.example.com:80", "net", "a.example.com:80", "no", "127.0.0.1"],
  ["--allow-net=a.example.com,10.0.0.1", "net", "a.example.com:80", "ok", "10.0.0.1"],
  ["--allow-net=a.example.com,10.0.0.1:80", "net", "a.example.com:80", "ok", "::ffff:10.0.0.1"],
  ["--allow-net=a.example.com,10.0.0.0/8", "net", "a.example.com:80", "ok", "10.0.0.1"],
  ["--allow-net=a.example.com,10.0.0.1:81", "net", "a.example.com:80", "no", "10.0.0.1"],
  ["--allow-net=a.example.com,10.0.0.2", "net", "a.example.com:80", "no", "10.0.0.1"],
  ["--allow-net=a.example.com,[fd00::1]", "net", "a.example.com:80", "ok", "fd00::1"],
  ["--allow-net=10.0.0.1", "net", "a.example.com:80", "no", "10.0.0.1"],
  ["--allow-net=localhost", "net", "localhost:80", "no", "10.0.0.1"],
  ["--allow-net=a.localhost", "net", "a.localhost:80", "ok", "127.0.0.1"],
  ["--allow-net=localhost", "net", "a.localhost:80", "no", "127.0.0.1"],
  ["--allow-net=*.localhost", "net", "a.localhost:80", "no", "127.0.0.1"],
  ["--allow-net=localhost.example.com", "net", "localhost.example.com:80", "no", "127.0.0.1"],
];

for (const [flags, kind, value, outcome, address] of ROWS) {
  const at = address === undefined ? "" : ` at ${JSON.stringify(address)}`;
  Deno.test(`policy: ${flags || "no flags"}: ${kind} ${value}${at}: ${outcome}`, () => {
    const policy = policyOf(flags.split(" ").filter((flag) => flag !== ""));
    const refusal = maybeRefusal(policy, { kind, value, ...(address !== undefined && { address }) });
    assert.equal(refusal === undefined ? "ok" : "no", outcome, refusal?.message);
  });
}

Deno.test("policy: where the command has no --allow-run, a refusal names the grant of the settings, and is not asked about", () => {
  const policy = createPolicy({ ...settingsOf([]), runsByGrant: true }, {
    root: "/project",
    cwd: "/project",
  });
  const refusal = maybeRefusal(policy, { kind: "run", value: "bash" });
  assert.equal(
    refusal?.message,
    'Running "bash" is not allowed here: grants of orrery.yaml have to name it, as "@shell": { run: ["bash"] } for documents or ' +
      'RunCommand: { run: ["bash"] } for calls',
  );
  assert.equal(refusal?.flag, "");
});

Deno.test("policy: a refusal names what was asked and the flag to add", () => {
  const cases: readonly [PermissionRequest, string, string][] = [
    [
      { kind: "write", value: "/my space/out/report.md" },
      `Writing "out/report.md" is not allowed: add `,
      "--allow-write=out/report.md",
    ],
    [
      { kind: "read", value: "/etc/passwd" },
      `Reading "/etc/passwd" is not allowed: add `,
      "--allow-read=/etc/passwd",
    ],
    [{ kind: "write", value: "/my space" }, `Writing "." is not allowed: add `, "--allow-write=."],
    [
      { kind: "write", value: "/my space/my file's, x" },
      `Writing "my file's, x" is not allowed: add `,
      `'--allow-write=my file'\\''s,, x'`,
    ],
    [
      { kind: "read", value: "/a\n\u001b[31m'\\" },
      `Reading "/a\\n\\u001b[31m'\\\\" is not allowed: add `,
      `$'--allow-read=/a\\u000a\\u001b[31m\\'\\\\'`,
    ],
    [{ kind: "run", value: "git" }, `Running "git" is not allowed: add `, "--allow-run=git"],
    [
      { kind: "run", value: "/my space/tool" },
      `Running "./tool" is not allowed: add `,
      "--allow-run=./tool",
    ],
    [{ kind: "env", value: "HOME" }, `Reading the variable "HOME" is not allowed: add `, "--allow-env=HOME"],
    [
      { kind: "net", value: "example.com:443" },
      `Connecting to "example.com:443" is not allowed: add `,
      "--allow-net=example.com:443",
    ],
    [
      { kind: "sys", value: "hostname" },
      `Asking the system for "hostname" is not allowed: add `,
      "--allow-sys=hostname",
    ],
  ];
  const policy = policyOf([], { root: "/my space/project", cwd: "/my space" });
  for (const [request, message, flag] of cases) {
    const refusal = maybeRefusal(policy, request);
    assert.equal(refusal?.message, message + flag);
    assert.equal(refusal?.flag, flag);
    assert.deepEqual(refusal?.request, request);
  }
});

Deno.test("policy: the flag a refusal names is enough, of a name that leads to a private address one more", () => {
  const path = fc.array(fc.stringMatching(/^[a-z ,'.]{1,8}$/).filter((part) => !/^\.+$/.test(part)), {
    minLength: 1,
    maxLength: 3,
  });
  const request: fc.Arbitrary<PermissionRequest> = fc.oneof(
    fc.record({
      kind: fc.constantFrom("read" as const, "write" as const),
      value: path.map((parts) => `/${parts.join("/")}`),
    }),
    fc.record({
      kind: fc.constant("net" as const),
      value: fc.constantFrom("localhost:80", "[::1]:8080", "a.b:443"),
      address: fc.constantFrom("10.0.0.1", "::1", "1.1.1.1", "fe80::1%eth0", "::ffff:10.0.0.1"),
    }),
    fc.record({
      kind: fc.constant("run" as const),
      value: fc.constantFrom("git", "/project/a b", "/usr/bin/x"),
    }),
  );
  fc.assert(fc.property(request, (request) => {
    const flags: string[] = [];
    const most = request.kind === "net" ? 2 : 1;
    for (let given = 0; given < most; given++) {
      const refusal = maybeRefusal(policyOf(flags), request);
      if (refusal === undefined) return;
      flags.push(refusal.flag.replaceAll(`'\\''`, "\0").replaceAll("'", "").replaceAll("\0", "'")); // as a shell reads it
    }
    assert.equal(maybeRefusal(policyOf(flags), request)?.message, undefined, flags.join(" "));
  }));
});

Deno.test("policy: a refusal by a deny flag names that flag, and none to add", () => {
  const cases: readonly [string[], PermissionRequest, string][] = [
    [
      ["--allow-all", "--deny-write=out put"],
      { kind: "write", value: "/project/out put/x" },
      `Writing "out put/x" is not allowed: '--deny-write=out put' forbids it`,
    ],
    [
      ["--deny-read"],
      { kind: "read", value: "/project/a" },
      `Reading "a" is not allowed: --deny-read forbids it`,
    ],
    [
      ["--allow-net", "--deny-net=*.b.c"],
      { kind: "net", value: "a.b.c:80" },
      `Connecting to "a.b.c:80" is not allowed: '--deny-net=*.b.c' forbids it`,
    ],
  ];
  for (const [flags, request, message] of cases) {
    const refusal = maybeRefusal(policyOf(flags), request);
    assert.equal(refusal?.message, message);
    assert.equal(refusal?.flag, "");
  }
});

Deno.test("policy: the refusal of a private address says so", () => {
  const refusal = maybeRefusal(policyOf(["--allow-all"]), {
    kind: "net",
    value: "localhost:8080",
    address: "127.0.0.1",
  });
  assert.equal(
    refusal?.message,
    `Connecting to "localhost:8080" is not allowed: -A and --allow-net alone open public addresses only; it leads to 127.0.0.1, which is not public (loopback) and must be named outright; add --allow-net=localhost:8080`,
  );
  assert.equal(refusal?.flag, "--allow-net=localhost:8080");
});

Deno.test("policy: a name inside a private network says which address to name as well", () => {
  const cases: readonly (readonly [string, string, string])[] = [
    ["10.0.0.5", "--allow-net=10.0.0.5:443", "private"],
    ["fd00::5", "'--allow-net=[fd00::5]:443'", "unique local"],
    ["fe80::5%eth0", "'--allow-net=[fe80::5]:443'", "link-local"],
    ["127.0.0.1", "--allow-net=127.0.0.1:443", "loopback"],
  ];
  for (const [address, flag, range] of cases) {
    const request = { kind: "net", value: "wiki.corp:443", address } as const;
    const refusal = maybeRefusal(policyOf(["--allow-net=wiki.corp"]), request);
    assert.equal(
      refusal?.message,
      `Connecting to "wiki.corp:443" is not allowed: it leads to ${address}, which is not public (${range}); a name opens no such ` +
        `address, so the address, or a range that it is in, must be named outright too; add ${flag}`,
    );
    assert.equal(refusal?.flag, flag);
  }
});

Deno.test("policy: describes itself in words", () => {
  assert.deepEqual(policyOf([]).describe(), [
    "read: the project",
    "write: the project's .orrery/",
    "net: nothing",
    "run: nothing",
    "env: nothing",
  ]);
  assert.deepEqual(
    policyOf(["--allow-all", "--deny-read=secrets,keys", "--deny-run", "--allow-net=localhost"]).describe(),
    [
      "read: everything, but never secrets, keys",
      "write: everything",
      "net: every public address, localhost",
      "run: nothing (--deny-run)",
      "env: everything",
    ],
  );
  assert.deepEqual(policyOf(["--allow-read=/data", "--allow-run=git,ls"]).describe().slice(0, 4), [
    "read: the project, /data",
    "write: the project's .orrery/",
    "net: nothing",
    "run: git, ls",
  ]);
});

Deno.test("policy flags: bad values name the flag", () => {
  const forms =
    `a host such as "example.com", "example.com:443", "*.example.com", "[::1]:80" or "10.0.0.0/8"`;
  const cases: readonly [string, string][] = [
    [
      "--allow-read=",
      "--allow-read=: a value of the list is empty: write --allow-read alone for everything, or a list divided by commas",
    ],
    [
      "--deny-env=A*B",
      `--deny-env=A*B: expected the name of a variable, or its beginning with "*" at the end, found "A*B"`,
    ],
    ["--allow-write=a,", "--allow-write=a,: a value of the list is empty"],
    ["--allow-net=http://a.b", `--allow-net=http://a.b: expected ${forms}, found a URL`],
    ["--allow-net=a:b", `--allow-net=a:b: expected a port from 1 to 65535 after the colon, found "b"`],
    ["--allow-net=a:0", `--allow-net=a:0: expected a port from 1 to 65535`],
    ["--allow-net=a:65536", `--allow-net=a:65536: expected a port`],
    ["--deny-net=::1", `--deny-net=::1: an IPv6 address stands in brackets: [::1]`],
    ["--allow-net=a/b", `--allow-net=a/b: expected ${forms}`],
    ["--allow-net=*", `--allow-net=*: expected ${forms}`],
    ["--allow-net=a@b", `--allow-net=a@b: expected ${forms}`],
    ["--allow-net=10.0.0.0/33", `--allow-net=10.0.0.0/33: expected ${forms}`],
    ["--allow-run=*", `--allow-run=*: "*" is no command: write --allow-run alone for every command`],
    ["--allow-env=A=B", `--allow-env=A=B: expected the name of a variable`],
    ["--allow-all=x", `--allow-all takes no value, found "x"`],
    ["--allow-everything", `--allow-everything: no such permission flag`],
    ["--allow-ffi", `--allow-ffi: no such permission flag`],
    ["--allow-__proto__", `--allow-__proto__: no such permission flag`],
  ];
  for (const [flag, message] of cases) {
    assert.throws(() => settingsOf([flag]), (error) => {
      assert.ok(error instanceof SourceError);
      assert.ok(error.message.startsWith(message), `${error.message}\n${message}`);
      return true;
    });
  }
});

Deno.test("policy flags: -A, lists and repeated flags", () => {
  assert.equal(parsePolicyFlags([{ name: "A", value: true }]).allowAll, true);
  const { allow } = settingsOf(["--allow-read=a,b,,c", "--allow-read=d", "--allow-net", "--allow-net=x"]);
  assert.deepEqual(allow.read, { all: false, list: ["a", "b,c", "d"] });
  assert.deepEqual(allow.net, { all: true, list: ["x"] });
});

const DENY_KINDS: readonly PermissionKind[] = ["read", "write", "net", "run", "env", "sys"];

Deno.test("policy: deny always wins, whatever is allowed", () => {
  const values: { readonly [kind in PermissionKind]: readonly string[] } = {
    read: ["/project/a", "/project/a/b", "/etc"],
    write: ["/project/.orrery/x", "/project/a"],
    net: ["example.com:443", "10.0.0.1:80", "[::1]:80"],
    run: ["git", "/usr/bin/git"],
    env: ["HOME", "A_B"],
    sys: ["hostname"],
  };
  const denies: { readonly [kind in PermissionKind]: readonly string[] } = {
    read: ["/", "a", "/etc"],
    write: ["/project", ".orrery", "a"],
    net: ["example.com", "10.0.0.0/8", "[::1]", "*.com"],
    run: ["git", "/usr/bin/git"],
    env: ["HOME", "A_*", "*"],
    sys: ["hostname"],
  };
  const scenario = fc.constantFrom(...DENY_KINDS).chain((kind) =>
    fc.record({
      kind: fc.constant(kind),
      value: fc.constantFrom(...values[kind]),
      deny: fc.constantFrom(`--deny-${kind}`, ...denies[kind].map((entry) => `--deny-${kind}=${entry}`)),
      allow: fc.subarray([
        "--allow-all",
        `--allow-${kind}`,
        ...values[kind].map((value) => `--allow-${kind}=${value}`),
      ]),
    })
  );
  fc.assert(
    fc.property(scenario, fc.boolean(), ({ kind, value, deny, allow }, denyFirst) => {
      const denied =
        maybeRefusal(policyOf(["--allow-all", "--allow-net=10.0.0.1,[::1]", deny]), { kind, value }) !==
          undefined;
      const both = maybeRefusal(policyOf(denyFirst ? [deny, ...allow] : [...allow, deny]), { kind, value });
      if (denied) assert.ok(both !== undefined);
    }),
    { numRuns: 500 },
  );
});

Deno.test("private ranges: by name", () => {
  const cases: readonly [string, string | undefined][] = [
    ["127.0.0.1", "loopback"],
    ["127.255.255.255", "loopback"],
    ["::1", "loopback"],
    ["[::1]", "loopback"],
    ["0.0.0.0", "unspecified"],
    ["::", "unspecified"],
    ["10.255.0.1", "private"],
    ["172.16.0.1", "private"],
    ["172.32.0.1", undefined],
    ["192.168.1.1", "private"],
    ["100.64.0.1", "carrier-grade NAT"],
    ["100.128.0.1", undefined],
    ["169.254.1.1", "link-local"],
    ["169.254.169.254", "metadata"],
    ["100.100.100.200", "metadata"],
    ["168.63.129.16", "metadata"],
    ["fd00:ec2::254", "metadata"],
    ["fd12::1", "unique local"],
    ["fe80::1%eth0", "link-local"],
    ["ff02::1", "multicast"],
    ["255.255.255.255", "reserved"],
    ["::ffff:127.0.0.1", "loopback"],
    ["::ffff:7f00:1", "loopback"],
    ["::127.0.0.1", "loopback"],
    ["::ffff:0:127.0.0.1", "loopback"],
    ["64:ff9b::10.0.0.1", "private"],
    ["64:ff9b::1.1.1.1", undefined],
    ["64:ff9b:1::1.1.1.1", "private"],
    ["2002:0a00:0001::1", "private"],
    ["2002:0101:0101::1", undefined],
    ["2001:0:4136:e378:8000:63bf:80ff:fffe", "loopback"], // Teredo: 127.0.0.1, inverted
    ["1.1.1.1", undefined],
    ["2606:4700:4700::1111", undefined],
    ["", "unreadable"],
    ["localhost", "unreadable"],
    ["1.2.3", "unreadable"],
    ["01.2.3.4", "unreadable"],
    ["1:2:3:4:5:6:7:8:9", "unreadable"],
    ["1::2::3", "unreadable"],
    ["2001:2::1", "benchmarking"],
    ["2001:20::1", "reserved"],
    ["1:2:3:4:5:6:7::8", "unreadable"], // "::" must stand for at least one group here: there are eight
  ];
  for (const [address, range] of cases) assert.equal(privateRange(address), range, address);
});

Deno.test("private ranges: everything that ipaddr.js does not call unicast is refused", () => {
  const embedded = ["6to4", "teredo", "rfc6052", "rfc6145", "ipv4Mapped"]; // judged by the IPv4 address inside
  const interesting = fc.constantFrom(0, 10, 100, 127, 169, 172, 192, 198, 203, 224, 240, 255);
  const byte = fc.oneof(interesting, fc.integer({ min: 0, max: 255 }));
  fc.assert(
    fc.property(fc.array(byte, { minLength: 4, maxLength: 4 }), (bytes) => {
      const address = bytes.join(".");
      if (ipaddr.parse(address).range() !== "unicast") {
        assert.notEqual(privateRange(address), undefined, address);
      }
      assert.equal(privateRange(`::ffff:${address}`), privateRange(address));
    }),
    { numRuns: 2000 },
  );
  const group = fc.oneof(
    fc.constantFrom(0, 2, 0x10, 0x20, 0xfc00, 0xfe80, 0xff02, 0x2001, 0xdb8, 0x64, 0xff9b),
    fc.integer({ min: 0, max: 0xffff }),
  );
  fc.assert(
    fc.property(fc.array(group, { minLength: 8, maxLength: 8 }), (groups) => {
      const address = groups.map((group) => group.toString(16)).join(":");
      const parsed = ipaddr.IPv6.parse(address);
      assert.equal(
        privateRange(address),
        privateRange(parsed.toString()),
        "a short form is the same address",
      );
      if (parsed.range() === "unicast" || embedded.includes(parsed.range())) return;
      // ipaddr.js counts a few registries among the reserved that are reached through the public network.
      if (
        !["as112", "amt", "orchid2", "droneRemoteIdProtocolEntityTags", "reserved"].includes(parsed.range())
      ) {
        assert.notEqual(privateRange(address), undefined, `${address} ${parsed.range()}`);
      }
    }),
    { numRuns: 20_000 },
  );
});

/** A project with links in it, in a folder that is gone after the test. */
async function withProject(work: (folders: { base: string; root: string }) => Promise<void>): Promise<void> {
  const base = await Deno.realPath(await Deno.makeTempDir({ prefix: "orrery-policy-" }));
  const root = join(base, "project");
  try {
    for (const folder of ["project/sub", "project/.orrery", "project-2", "secret"]) {
      Deno.mkdirSync(join(base, folder), { recursive: true });
    }
    for (const file of ["project/a.txt", "project/sub/b.txt", "project-2/c.txt", "secret/key"]) {
      Deno.writeTextFileSync(join(base, file), file);
    }
    Deno.symlinkSync("../secret/key", join(root, "key-link"));
    Deno.symlinkSync("../secret", join(root, "folder-link"));
    Deno.symlinkSync("..", join(root, "up"));
    Deno.symlinkSync("sub", join(root, "inside-link"));
    Deno.symlinkSync("../../secret/new", join(root, ".orrery/dangling"));
    Deno.symlinkSync("../sub", join(root, ".orrery/sub-link"));
    await work({ base, root });
  } finally {
    await Deno.remove(base, { recursive: true });
  }
}

function guarded(root: string, flags: readonly string[] = []): GuardedWorld {
  const policy = createPolicy(settingsOf(flags), { root, cwd: root, realPath });
  return guardWorld(
    { root, files: exactFiles({ root }), shell: hostShell(), http: hostHttp },
    policy,
  );
}

async function refused(work: () => unknown, message: RegExp | string): Promise<void> {
  const error = await Promise.resolve().then(work).then(() => undefined, (error: unknown) => error);
  assert.ok(error instanceof PermissionRefused, `expected a refusal, found ${error}`);
  if (typeof message === "string") assert.equal(error.message, message);
  else assert.match(error.message, message);
}

Deno.test("guard: reading follows links and is judged where they lead", () =>
  withProject(async ({ base, root }) => {
    const { files } = guarded(root);
    assert.equal(await files.readText("a.txt"), "project/a.txt");
    assert.equal(await files.readText("inside-link/b.txt"), "project/sub/b.txt");
    const key = join(base, "secret/key");
    await refused(
      () => files.readText("key-link"),
      `Reading "${key}" is not allowed: add --allow-read=${key} ("key-link" leads there)`,
    );
    await refused(() => files.readBytes("folder-link/key"), /Reading/);
    await refused(() => files.stat("folder-link/no-such-file"), /Reading/);
    await refused(() => files.list("up"), /Reading/);
    await refused(() => files.readText("../project-2/c.txt"), /Reading/);
    await refused(() => files.readText(key), `Reading "${key}" is not allowed: add --allow-read=${key}`);
    await refused(() => files.resolve("up/secret"), /Reading/);
    assert.equal(await guarded(root, ["--allow-read=folder-link"]).files.readText("key-link"), "secret/key");
    await refused(
      () => guarded(root, ["--allow-read", "--deny-read=folder-link"]).files.readText("key-link"),
      /--deny-read=folder-link forbids it/,
    );
  }));

Deno.test("guard: writing is judged where it lands", () =>
  withProject(async ({ base, root }) => {
    const { files } = guarded(root);
    await files.writeText(".orrery/notes/x.txt", "x");
    assert.equal(Deno.readTextFileSync(join(root, ".orrery/notes/x.txt")), "x");
    await refused(
      () => files.writeText(".orrery/dangling", "x"),
      /^Writing ".*\/secret\/new" is not allowed/,
    );
    await refused(
      () => files.writeText(".orrery/sub-link/x", "x"),
      `Writing "sub/x" is not allowed: add --allow-write=sub/x (".orrery/sub-link/x" leads there)`,
    );
    await refused(
      () => files.writeText("out/report.md", "x"),
      `Writing "out/report.md" is not allowed: add --allow-write=out/report.md`,
    );
    await refused(() => files.writeText(".orrery/../a.txt", "x"), /Writing "a.txt" is not allowed/);
    assert.deepEqual([...Deno.readDirSync(join(base, "secret"))].map(({ name }) => name), ["key"]);
    const outside = guarded(root, [`--allow-write=${join(base, "out")}`]).files;
    assert.equal(
      await outside.resolve("../out/x"),
      join(base, "out/x"),
      "a path that may be written may be known",
    );
  }));

Deno.test("guard: a project cannot lend its own folder's permission to another one by a link", () =>
  withProject(async ({ base, root }) => {
    await Deno.remove(join(root, ".orrery"), { recursive: true });
    await Deno.symlink("../secret", join(root, ".orrery"));
    await refused(() => guarded(root).files.writeText(".orrery/x", "x"), /Writing/);
    assert.deepEqual([...Deno.readDirSync(join(base, "secret"))].map(({ name }) => name), ["key"]);
  }));

Deno.test("guard: a list does not tell what a link leads to when that may not be read", () =>
  withProject(async ({ root }) => {
    const entries = await guarded(root).files.list(".");
    assert.deepEqual(entries.map(({ name, kind, link }) => `${name} ${kind}${link ? " link" : ""}`), [
      ".orrery folder",
      "a.txt file",
      "folder-link other link",
      "inside-link folder link",
      "key-link other link",
      "sub folder",
      "up other link",
    ]);
  }));

Deno.test("guard: errors name the path as it was given", () =>
  withProject(async ({ root }) => {
    const { files } = guarded(root);
    await assert.rejects(files.readText("sub/../no.txt"), (error) => {
      assert.ok(error instanceof FileError);
      assert.equal(error.message, `Cannot read "sub/../no.txt": no such file`);
      assert.equal(error.path, "sub/../no.txt");
      return error.code === "not-found";
    });
  }));

Deno.test("guard: a path outside the allowed folders is never read or written, however .. and links are mixed", () =>
  withProject(async ({ base, root }) => {
    const { files } = guarded(root, ["--allow-write=sub"]);
    const part = fc.constantFrom(
      "..",
      ".",
      "",
      "sub",
      "up",
      "project",
      "secret",
      "key",
      "folder-link",
      "inside-link",
      "key-link",
      "a.txt",
      "b.txt",
      ".orrery",
      "sub-link",
      "dangling",
      "project-2",
      "c.txt",
      "new",
    );
    const path = fc.tuple(fc.constantFrom("", "/", `${root}/`, `${base}/`), fc.array(part, { maxLength: 7 }))
      .map(([start, parts]) => start + parts.join("/"));
    const before = await snapshot(base, root);
    await fc.assert(
      fc.asyncProperty(path, async (path) => {
        const text = await files.readText(path).catch(() => undefined);
        if (text !== undefined) assert.match(text, /^(project\/|written)/, path);
        await files.writeText(path, "written").catch(() => undefined);
        assert.deepEqual(await snapshot(base, root), before, path);
      }),
      { numRuns: 300 },
    );
  }));

/** Everything that may not change: all but `sub` and `.orrery`. */
async function snapshot(base: string, root: string): Promise<readonly string[]> {
  const seen: string[] = [];
  const open = [join(root, "sub"), join(root, ".orrery")];
  const walk = async (folder: string) => {
    for await (const { name, isDirectory, isFile } of Deno.readDir(folder)) {
      const path = join(folder, name);
      if (open.includes(path)) continue;
      seen.push(isFile ? `${path}: ${await Deno.readTextFile(path)}` : path);
      if (isDirectory) await walk(path);
    }
  };
  await walk(base);
  return seen.sort();
}

Deno.test("guard: a path as it is written never decides more than the path it means", () => {
  const part = fc.constantFrom("..", ".", "a", "ab", "project", ".orrery");
  fc.assert(fc.property(fc.array(part, { maxLength: 6 }), (parts) => {
    const real = normalize(`/${parts.join("/")}`).replace(/(?<=.)\/$/, "");
    const isInside = real === "/project" || real.startsWith("/project/");
    assert.equal(maybeRefusal(policyOf([]), { kind: "read", value: real }) === undefined, isInside, real);
    const isOwn = `${real}/`.startsWith("/project/.orrery/");
    assert.equal(maybeRefusal(policyOf([]), { kind: "write", value: real }) === undefined, isOwn, real);
  }));
});

Deno.test("guard: commands are asked about by name, or by their real path", () =>
  withProject(async ({ base, root }) => {
    Deno.writeTextFileSync(join(root, "sub/tool"), "#!/bin/sh\necho tool $(pwd)\n", { mode: 0o755 });
    Deno.symlinkSync("sub/tool", join(root, "tool-link"));
    const run = (flags: string[], command: string, options = {}) =>
      guarded(root, flags).shell.run(command, options);
    await refused(() => run([], "pwd"), `Running "pwd" is not allowed: add --allow-run=pwd`);
    assert.equal((await run(["--allow-run=pwd"], "pwd")).stdout, `${root}\n`);
    assert.equal((await run(["--allow-run=pwd"], "pwd", { cwd: "inside-link" })).stdout, `${root}/sub\n`);
    await refused(
      () => run(["--allow-run=pwd"], "pwd", { cwd: "folder-link" }),
      /^Reading ".*secret" is not allowed/,
    );
    await refused(
      () => run(["--allow-run", "--deny-run=tool-link"], "./tool-link"),
      `Running "./tool-link" is not allowed: --deny-run=tool-link forbids it`,
    );
    await refused(
      () => run(["--allow-run=tool"], "./tool-link"),
      `Running "./sub/tool" is not allowed: add --allow-run=./sub/tool ("./tool-link" leads there)`,
    );
    assert.equal((await run(["--allow-run=sub/tool"], "./tool-link")).stdout, `tool ${root}\n`);
    assert.equal(
      (await run(["--allow-run=./tool-link"], "./tool", { cwd: "sub" })).stdout,
      `tool ${root}/sub\n`,
    );
    await refused(
      () => run(["--allow-run=env"], "env", { env: { LD_PRELOAD: "/x.so" } }),
      /Setting the variable "LD_PRELOAD" for a command is not allowed: .*; add --allow-run$/,
    );
    const others =
      "EDITOR,VISUAL,PAGER,GH_PAGER,HOME,XDG_CONFIG_HOME,LESSOPEN,PROMPT_COMMAND,CARGO_BUILD_RUSTC,npm_config_script_shell";
    for (const name of ["PATH", ...others.split(",")]) {
      await refused(
        () => run(["--allow-run=env"], "env", { env: { [name]: base } }),
        new RegExp(`"${name}"`),
      );
    }
    assert.match((await run(["--allow-run=env"], "env", { env: { OWN: "1" } })).stdout, /^OWN=1$/m);
    assert.match((await run(["--allow-run"], "env", { env: { LD_X: "1" } })).stdout, /^LD_X=1$/m);
  }));

Deno.test("guard: what a deny flag names stays forbidden when a link on its way comes or goes", () =>
  withProject(async ({ root }) => {
    const { files } = guarded(root, [
      "--deny-read=later,inside-link",
      "--allow-write=.",
      "--deny-write=later",
    ]);
    Deno.symlinkSync("sub", join(root, "later"));
    const denied = /"later\/b.txt" is not allowed: --deny-read=.*later forbids it/;
    await refused(() => files.readText("later/b.txt"), denied);
    await refused(() => files.list("later"), /--deny-read=.*later forbids it/);
    await refused(() => files.readText("sub/../later/b.txt"), denied);
    await refused(() => files.writeText("later/new.txt", "x"), /--deny-write=.*later forbids it/);
    Deno.removeSync(join(root, "inside-link"));
    Deno.symlinkSync("../project", join(root, "inside-link"));
    await refused(() => files.readText("inside-link/a.txt"), /inside-link forbids it/);
    assert.equal(await files.readText("a.txt"), "project/a.txt");
  }));

Deno.test("guard: hosts are asked about", () =>
  refused(
    () => guarded("/project").http.fetch("http://localhost:9/"),
    `Connecting to "localhost:9" is not allowed: add --allow-net=localhost:9`,
  ));

Deno.test("guard: works over fakes", async () => {
  const ran: string[] = [];
  const done: ShellResult = {
    exitCode: 0,
    stdout: "",
    stderr: "",
    truncated: false,
    dropped: 0,
    stopped: false,
  };
  const noNetwork = () => Promise.reject(new Error("no network"));
  const world = guardWorld({
    root: "/project",
    files: memoryFiles({ "a.txt": "a", "/etc/passwd": "root" }),
    shell: { run: (command) => Promise.resolve(ran.push(command)).then(() => done) },
    http: () => ({ fetch: noNetwork, open: noNetwork }),
  }, policyOf(["--allow-run=ls"]));
  assert.equal(await world.files.readText("a.txt"), "a");
  await refused(() => world.files.readText("/etc/passwd"), /Reading "\/etc\/passwd"/);
  await world.shell.run("ls", {});
  await refused(() => world.shell.run("rm", {}), /Running "rm"/);
  assert.deepEqual(ran, ["ls"]);
});

Deno.test("guard: a variable of ours that is not an ordinary one is asked about before a command gets it", () =>
  withProject(async ({ root }) => {
    const ordinary = ["PATH", "HOME", "LC_*", "TMPDIR", "TZ", "USER", "SHELL", "PATHEXT"];
    const run = (inherit: readonly string[], flags: readonly string[] = []) =>
      guarded(root, ["--allow-run=true", ...flags]).shell.run("true", { inherit, isMerged: true });
    assert.equal((await run(ordinary)).exitCode, 0);
    const key = [...ordinary, "MY_API_KEY"];
    await refused(
      () => run(key),
      `Reading the variable "MY_API_KEY" is not allowed: add --allow-env=MY_API_KEY`,
    );
    assert.equal((await run(key, ["--allow-env=MY_API_KEY"])).exitCode, 0);
    for (const pattern of ["*", "MY_*"]) {
      await assert.rejects(run([pattern], ["--allow-env"]), {
        message: `Cannot hand on the variables "${pattern}" to a command: name each of them`,
      });
    }
    await refused(
      () => guarded(root).shell.run("bash", { args: ["-c", "true"], isMerged: true }),
      `Running "bash" is not allowed: add --allow-run=bash`,
    );
  }));

Deno.test("accepted projects: the hash changes with every part and with nothing else", async () => {
  const parts = { grants: { A: "trusted", B: { net: ["x"] } }, mcpServers: {} };
  const hash = await hashOwnWord(parts);
  assert.match(hash, /^[0-9a-f]{64}$/);
  assert.equal(await hashOwnWord({ mcpServers: {}, grants: { B: { net: ["x"] }, A: "trusted" } }), hash);
  const others = [
    {},
    { grants: parts.grants },
    { ...parts, lock: "" },
    { ...parts, isolation: { A: "none" } },
    { grants: parts.grants, mcpJson: {} },
    { ...parts, grants: { A: "trusted", B: { net: ["x", "y"] } } },
    { ...parts, grants: JSON.parse(`{"A":"trusted","B":{"net":["x"]},"__proto__":"trusted"}`) },
  ];
  const hashes = await Promise.all(others.map(hashOwnWord));
  assert.equal(new Set([hash, ...hashes]).size, others.length + 1);
});

Deno.test("accepted projects: kept in a file that only the user can read", () =>
  withProject(async ({ base }) => {
    const folder = join(base, "state/orrery");
    const state = hostFiles({ root: folder, mode: 0o600 });
    assert.deepEqual(await readAccepted(state), []);
    await writeAccepted(state, { root: "/a", sha256: "1" });
    await writeAccepted(state, { root: "/b", sha256: "2" });
    await writeAccepted(state, { root: "/a", sha256: "3", asked: ["x"] });
    const accepted = await readAccepted(state);
    assert.deepEqual(accepted, [{ root: "/b", sha256: "2" }, { root: "/a", sha256: "3", asked: ["x"] }]);
    assert.equal(((await Deno.stat(join(folder, "trusted.json"))).mode ?? 0) & 0o777, 0o600);
    assert.equal(((await Deno.stat(folder)).mode ?? 0) & 0o777, 0o700);
    assert.equal(isAccepted(accepted, { root: "/a", sha256: "3" }), true);
    assert.equal(isAccepted(accepted, { root: "/a", sha256: "1" }), false);
    assert.equal(isAccepted(accepted, { root: "/b", sha256: "3" }), false);
    assert.equal(withAccepted([], { root: "/", sha256: "x" }).length, 1);
    assert.equal(dirname(await state.resolve("trusted.json")), folder);
  }));

Deno.test("accepted projects: a broken list is an error and stays as it is", async () => {
  const cases: readonly [string, string][] = [
    ["{", "it is not JSON: "],
    ["[]", `expected {"version": 1, "projects": [...]}`],
    [`{"version":2,"projects":[]}`, `expected {"version": 1`],
    [
      `{"version":1,"projects":[{"root":"/a"}]}`,
      `entry 1 of "projects" must have "root" and "sha256", both text`,
    ],
  ];
  for (const [text, reason] of cases) {
    const state = memoryFiles({ "trusted.json": text }, { root: "/state/orrery" });
    const expected = (error: unknown) => {
      assert.ok(error instanceof SourceError);
      const start = `Cannot read the list of accepted projects "/state/orrery/trusted.json": ${reason}`;
      assert.ok(error.message.startsWith(start), error.message);
      assert.match(error.hint ?? "", /delete it/);
      return true;
    };
    await assert.rejects(readAccepted(state), expected);
    await assert.rejects(writeAccepted(state, { root: "/a", sha256: "1" }), expected);
    assert.equal(await state.readText("trusted.json"), text);
  }
});

Deno.test("the journal is nobody's to write or read, whatever is allowed", () => {
  const policy = createPolicy(parsePolicyFlags([{ name: "allow-all", value: true }]), {
    root: "/p",
    cwd: "/p",
  });
  policy.check({ kind: "write", value: "/p/.orrery/notes.txt" });
  for (const name of ["orrery.db", "orrery.db-wal", "orrery.db-token"]) {
    assert.throws(
      () => policy.check({ kind: "write", value: `/p/.orrery/${name}` }),
      new RegExp(
        `Writing ".orrery/${name}" is not allowed: it is the journal of Orrery, which nothing a run does may write`,
      ),
    );
    assert.throws(
      () => policy.check({ kind: "read", value: `/p/.orrery/${name}` }),
      new RegExp(
        `Reading ".orrery/${name}" is not allowed: it is the journal of Orrery, which nothing a run does may read`,
      ),
    );
  }
});

Deno.test("an approving policy asks once for each thing, never about what is denied, and again for a private address", async () => {
  const asked: string[] = [];
  const flags = parsePolicyFlags([{ name: "deny-read", value: "/p/secret" }]);
  const policy = approvingPolicy(createPolicy(flags, { root: "/p", cwd: "/p" }), (refused) => {
    asked.push(refused.flag);
    return Promise.resolve(!refused.flag.includes("no"));
  });
  await Promise.all([
    policy.permit({ kind: "write", value: "/p/out" }),
    policy.permit({ kind: "write", value: "/p/out" }),
  ]);
  await policy.permit({ kind: "write", value: "/p/out" });
  policy.check({ kind: "write", value: "/p/out" });
  await assert.rejects(async () => await policy.permit({ kind: "write", value: "/p/no" }), /not allowed/);
  await assert.rejects(async () => await policy.permit({ kind: "read", value: "/p/secret" }), /forbids it/);
  await policy.permit({ kind: "net", value: "a.test:80" });
  await policy.permit({ kind: "net", value: "a.test:80", address: "93.184.216.34" });
  await policy.permit({ kind: "net", value: "a.test:80", address: "127.0.0.1" });
  for (const [value, address] of [["127.0.0.1:9", "127.0.0.1"], ["[::1]:9", "::1"]] as const) {
    await policy.permit({ kind: "net", value }); // a private address that is written out is one question
    await policy.permit({ kind: "net", value, address });
  }
  await policy.permit({ kind: "net", value: "127.0.0.1.test:9" });
  await policy.permit({ kind: "net", value: "127.0.0.1.test:9", address: "127.0.0.1" });
  assert.deepEqual(asked, [
    "--allow-write=out",
    "--allow-write=no",
    "--allow-net=a.test:80",
    "--allow-net=a.test:80",
    "--allow-net=127.0.0.1:9",
    "'--allow-net=[::1]:9'",
    "--allow-net=127.0.0.1.test:9",
    "--allow-net=127.0.0.1.test:9",
  ]);
});
