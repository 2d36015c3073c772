// Every file may be read and written; those of the kernel are none: they are this process, that of Orrery, and the machine.
import * as fs from "node:fs";
import { ways } from "./_ways.js";

const OF_PROCESS = [
  "environ",
  "cmdline",
  "maps",
  "mem",
  "status",
  "stat",
  "auxv",
  "net/tcp",
  "mountinfo",
  "limits",
  "fd",
  "task",
  "exe",
];
const WHO = ["self", "thread-self", "1", ...numbers()];
const MACHINE = [
  "/proc/meminfo",
  "/proc/version",
  "/proc/kcore",
  "/proc/cpuinfo",
  "/proc/sys/kernel/hostname",
  "/sys/kernel/notes",
  "/dev/mem",
  "/dev/kmsg",
  "/dev/null",
  "/dev/zero",
  "/dev/random",
  "/dev/stdin",
  "/dev/fd/0",
  "/dev/ptmx",
];
const WRITE = [
  "/dev/stdout",
  "/dev/stderr",
  "/dev/tty",
  "/dev/null",
  "/dev/shm/orrery-attack",
  "/proc/self/comm",
  "/proc/self/oom_score_adj",
  "/proc/self/mem",
  ...Array.from({ length: 30 }, (_, fd) => `/proc/self/fd/${fd}`),
  ...Array.from({ length: 6 }, (_, fd) => `/dev/fd/${fd}`),
];

function numbers() {
  return [Deno.pid, Deno.ppid, globalThis.process?.pid, globalThis.process?.ppid].filter((pid) => pid > 1)
    .map(String);
}

/** What Orrery has open may be a plain file, such as a cache of Deno's: it was granted, and is left alone. */
function isPlain(path) {
  try {
    return !/^\/(proc|dev|sys)\//.test(Deno.realPathSync(path));
  } catch {
    return false;
  }
}

const some = (text) => text === "" ? undefined : JSON.stringify(String(text).slice(0, 80));

export default {
  name: "Attack",
  description: "Test.",
  permissions: { read: true, write: true },
  run: () =>
    ways(Object.fromEntries([
      ...WHO.flatMap((who) => OF_PROCESS.map((file) => `/proc/${who}/${file}`)).concat(
        MACHINE,
        Array.from({ length: 30 }, (_, fd) => `/proc/self/fd/${fd}`),
        [
          "/proc/self/root/proc/self/environ",
          "/proc/self/cwd/../../../../../../proc/self/environ",
          "/tmp/../proc/self/environ",
          "to-kernel/self/environ",
        ],
      ).flatMap((path) => [
        [`Deno ${path}`, () => isPlain(path) ? undefined : some(Deno.readTextFileSync(path))],
        [`later ${path}`, async () => isPlain(path) ? undefined : some(await Deno.readTextFile(path))],
        [`node ${path}`, () => isPlain(path) ? undefined : some(fs.readFileSync(path, "utf8"))],
        [`list ${path}`, () =>
          isPlain(path) ? undefined : some([...Deno.readDirSync(path)].map(({ name }) => name).join())],
      ]),
      ...WRITE.flatMap((path) => [
        [
          `write ${path}`,
          () =>
            isPlain(path)
              ? undefined
              : (Deno.writeTextFileSync(path, '{"type":"run-end","forged":true}\n'), "written"),
        ],
        [`append ${path}`, () =>
          isPlain(path)
            ? undefined
            : (fs.appendFileSync(path, '{"type":"run-end","forged":true}\n'), "written")],
      ]),
    ])),
};
