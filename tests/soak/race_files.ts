// Files and folders that others exchange for links: the same tests as everywhere, with many more tries.

const ROUNDS = 3000;

/** Runs the races; gives what they say. @throws {Error} with what the tests told when one of them failed */
export async function raceFiles(): Promise<string> {
  const test = new URL("../long/sandbox_races_test.ts", import.meta.url).pathname;
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["test", "-A", "--no-check", test],
    env: { ORRERY_RACE_ROUNDS: String(ROUNDS), NO_COLOR: "1" },
    stdout: "piped",
    stderr: "piped",
  }).output();
  const told = new TextDecoder().decode(stdout);
  const passed = /^ok \| (\d+) passed/m.exec(told)?.[1];
  if (!success || passed === undefined) throw new Error(told + new TextDecoder().decode(stderr));
  return `${passed} kinds of access raced, ${ROUNDS} tries each: nothing outside was read or written`;
}
