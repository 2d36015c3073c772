// One server may be reached; it sends on to others.
import { ways } from "./_ways.js";

const TARGETS = [
  "loopback",
  "localhost",
  "ipv6",
  "decimal",
  "mapped",
  "file",
  "data",
  "credentials",
  "chain",
  "scheme-relative",
];

export default {
  name: "Attack",
  description: "Test.",
  permissions: { net: ["127.0.0.1:@GRANTED@"] },
  run: () =>
    ways(
      Object.fromEntries(TARGETS.flatMap((target) =>
        ["GET", "POST"].flatMap((method) =>
          ["follow", "manual"].map((redirect) => [
            `${method} ${redirect} ${target}`,
            async () => {
              const answer = await fetch(`http://127.0.0.1:@GRANTED@/${target}`, { method, redirect });
              const text = await answer.text();
              return text.includes("TOP" + "SECRET") ? text : undefined;
            },
          ])
        )
      )),
    ),
};
