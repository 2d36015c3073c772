// Tests that `deno task test` runs a part of, whole; and attacks in the binary, where there is one.

const FILES = [
  "agent_check",
  "long/conversation_kill",
  "long/conversation_test_command",
  "long/document_kill",
  "long/init_types",
  "long/prompt_types",
  "long/sandbox_hostile_project",
  "long/sandbox_own_attacks",
  "long/sandbox_process",
  "long/sandbox_races",
  "long/server_ended",
  "long/server_malformed",
  "long/server_kill",
  "permissions",
  "prompt_discover",
  "prompt_dotprompt",
  "prompt_problems",
  "record_file",
  "retrieval_index",
  "server_openai",
  "server_openapi",
  "timed/long/conversation_parts",
  "timed/long/prompt_odd_files",
  "timed/long/retrieval_text",
];
const IN_BINARY = /^long\/sandbox_(hostile_project|own_attacks|races)$/;
const BINARY = "dist/orrery";

/** Runs them one after the other. @throws {Error} with what they told when one of them failed */
export async function thorough(): Promise<string> {
  const passed = [await tested(FILES, {})];
  const hasBinary = await Deno.stat(BINARY).then(() => true, () => false);
  if (!hasBinary) return `${passed} tests; not run here: ${BINARY}, which deno task compile makes`;
  passed.push(await tested(FILES.filter((name) => IN_BINARY.test(name)), { ORRERY_BINARY: BINARY }));
  return `${passed[0]} tests, and ${passed[1]} in the binary`;
}

async function tested(names: readonly string[], env: Readonly<Record<string, string>>): Promise<number> {
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      "test",
      "--config",
      "tests/deno_tests.json",
      "-A",
      "--no-check",
      ...names.map((name) => `tests/${name}_test.ts`),
    ],
    env: { ORRERY_THOROUGH: "1", NO_COLOR: "1", ...env },
    stdout: "piped",
    stderr: "piped",
  }).output();
  const told = new TextDecoder().decode(stdout);
  const passed = /^ok \| (\d+) passed/m.exec(told)?.[1];
  if (!success || passed === undefined) throw new Error(told + new TextDecoder().decode(stderr));
  return Number(passed);
}
