const isWindows = Deno.build.os === "windows";

/** A test whose commands, signals or file modes are those of a POSIX system; on Windows it is left out, and says so. */
export function posixTest(name: string, test: (t: Deno.TestContext) => void | Promise<void>): void {
  if (isWindows) console.log(`not run here: ${name}; its commands are those of a POSIX system`);
  Deno.test({ name, ignore: isWindows, fn: test });
}
