// Swaps files and folders below the folder of its argument for links to the folder of its second one, and back, until it is killed.

import { join } from "node:path";

const [folder = "", outside = ""] = Deno.args;

/** Makes `name` the one and then the other, by renaming: there is hardly a moment without it. */
function* swapped(name: string, target: string): Generator<void> {
  const [here, aside] = [join(folder, name), join(folder, `.aside-${name}`)];
  const link = join(folder, `.link-${name}`);
  while (true) {
    tryTo(() => Deno.symlinkSync(target, link));
    tryTo(() => Deno.renameSync(here, aside));
    tryTo(() => Deno.renameSync(link, here));
    yield;
    tryTo(() => Deno.renameSync(here, link));
    tryTo(() => Deno.renameSync(aside, here));
    yield;
  }
}

function* relinked(name: string, targets: readonly string[]): Generator<void> {
  const [here, aside] = [join(folder, name), join(folder, `.link-${name}`)];
  while (true) {
    for (const target of targets) {
      tryTo(() => Deno.symlinkSync(target, aside));
      tryTo(() => Deno.renameSync(aside, here));
      yield;
    }
  }
}

/** Makes `name` a file and then a pipe that nobody writes to. */
function* piped(name: string): Generator<void> {
  const [here, pipe, aside] = [
    join(folder, name),
    join(folder, `.pipe-${name}`),
    join(folder, `.file-${name}`),
  ];
  new Deno.Command("mkfifo", { args: [pipe] }).outputSync();
  while (true) {
    tryTo(() => Deno.writeTextFileSync(aside, "fine"));
    tryTo(() => Deno.renameSync(aside, here));
    yield;
    tryTo(() => Deno.linkSync(pipe, aside));
    tryTo(() => Deno.renameSync(aside, here));
    yield;
  }
}

/** The other side changes the same places. */
function tryTo(work: () => void): void {
  try {
    work();
  } catch { /* the next round does */ }
}

const secret = join(outside, "secret.txt");
const file = join(outside, "file.txt");
const swaps = [
  relinked("link", [join(folder, "own.txt"), secret, join(folder, "file.txt"), file]),
  swapped("file.txt", secret),
  swapped("folder", outside),
  piped("pipe"),
];
while (true) for (const swap of swaps) swap.next();
