export default {
  name: "RunsCommand",
  description: "Runs a command.",
  permissions: { run: ["printf"] },
  async run() {
    const { code, stdout } = await new Deno.Command("printf", { args: ["%s-%s", "a b", "$HOME"] }).output();
    const sync = new Deno.Command("printf", { args: ["sync"] }).outputSync();
    const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
    const refused = await new Deno.Command("cat", { args: ["/etc/hosts"] }).output().then(
      () => "ran",
      () => "refused",
    );
    return { code, text: decode(stdout), sync: decode(sync.stdout), refused };
  },
};
