// Every public host may be reached; this machine is no public host, however it is written.
import { ways } from "./_ways.js";

const HOSTS = [
  "127.0.0.1",
  "127.1",
  "127.0.1",
  "0",
  "0.0.0.0",
  "2130706433",
  "0x7f000001",
  "0x7f.1",
  "017700000001",
  "127.0.0.1.",
  "localhost",
  "localhost.",
  "LOCALHOST",
  "a.localhost",
  "[::1]",
  "[::]",
  "[::ffff:127.0.0.1]",
  "[::ffff:7f00:1]",
  "[0:0:0:0:0:ffff:7f00:0001]",
  "[::127.0.0.1]",
  "127.255.255.254",
  "１２７.0.0.1",
  "127。0。0。1",
  "ⓛocalhost",
  "[64:ff9b::127.0.0.1]",
  "[2002:7f00:1::]",
  "169.254.169.254",
  "x@127.0.0.1",
  "example.com@127.0.0.1",
];

export default {
  name: "Attack",
  description: "Test.",
  permissions: { net: true },
  run: () =>
    ways(
      Object.fromEntries(
        HOSTS.map((host) => [host, async () => (await fetch(`http://${host}:@PORT@/`)).text()]),
      ),
    ),
};
