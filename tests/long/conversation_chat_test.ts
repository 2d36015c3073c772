// `orrery chat AGENT` at a terminal: text as it comes, Ctrl-C, and what can be typed besides messages.

import assert from "node:assert/strict";
import { testProject } from "../_project.ts";
import { atTerminal, noTerminal } from "../_pty.ts";

const FILES = {
  "loop.agent.yml": `version: "0.1"
structure:
  id: loop
  action:
    id: main
    chain:
      - { id: hello, message: { message: "Hello!", hold: true } }
      - { id: count, counter: { slot: { name: n } } }
      - id: think
        llm: { prompts: [ { system: "Be brief." } ], memory: [ { selector: all } ], hold: true }
      - { id: done, conditions: [ { name: n, condition: { greater-than: 4 } } ], flow: { goto: bye } }
      - { id: again, flow: { goto: count } }
      - { id: bye, message: { message: "Bye." } }
`,
  "asks.yml":
    `- { when: first$, text: "!!!GADGET_START:WriteFile:w\\n!!!ARG:path\\nx.txt\\n!!!ARG:content\\nx\\n!!!GADGET_END\\n" }
- { when: "", text: "yes", repeat: true }
`,
  "slow.yml": `- { when: slow, chunks: ["This ", "takes ", "long."], delayMs: 500, repeat: true }
- { when: bad, error: { status: 400, message: "too strange" } }
- { when: "two\\nlines", text: "two lines", repeat: true }
- { when: "", text: "quick", repeat: true }
`,
};

Deno.test("chat with an agent at a terminal", async (t) => {
  const why = await noTerminal();
  if (why !== undefined) return console.log(`not run here: ${why}`);
  await using project = await testProject(FILES);
  const chat = (...args: string[]) =>
    atTerminal(["chat", "loop.agent.yml", "-m", "script/slow.yml", ...args], {
      cwd: project.folder,
      env: { ...project.env, NO_COLOR: "1" },
    });

  await t.step("messages, commands, and a turn that fails", async () => {
    const person = chat();
    assert.match(await person.until("> "), /^loop \(loop\.agent\.yml\); \/help shows .*\nHello!\n> $/);
    await person.type("\n");
    assert.match(await person.until("\n> "), /The message is empty\.\n> $/);
    await person.type("two\\\nlines\n");
    assert.match(await person.until("\n> "), /two lines\n {2}model .*\n> $/);
    await person.type("/slots\n");
    assert.match(await person.until("\n> "), /conversation\.n {2}1\n> $/);
    await person.type("bad\n");
    assert.match(
      await person.until("\n> "),
      /loop\.agent\.yml:9:9: error: step "think": .*too strange \(400\)\nSomething went wrong\. Send a message to try again\.\n> $/,
    );
    await person.type("/trace\n");
    assert.match(
      await person.until("\n> "),
      /jump {2}again -> count\n[\s\S]*conversation\.n = 2\n {2}failed {2}think [\s\S]*too strange \(400\)\n> $/,
    );
    await person.type("/retry\n");
    assert.match(await person.until("\n> "), /quick\n/);
    await person.type("/retry\n");
    assert.match(await person.until("\n> "), /error: There is nothing to try again/);
    await person.type("/back 0\n");
    assert.match(
      await person.until("\n> "),
      /\/back takes how many messages are taken back, from 1; found 0\n/,
    );
    await person.type("/back 9\n");
    assert.match(await person.until("\n> "), /There are 4 turns to take back\n/);
    await person.type("/back 2\n");
    assert.match(
      await person.until("two lines\n> "),
      /\w{12} goes on behind turn 2; the other one stays as it was\n> two\nlines\ntwo lines\n> $/,
    );
    await person.type("/back 2\n");
    assert.match(
      await person.until("Hello!\n> "),
      /goes on behind turn 0; the other one stays as it was\nHello!\n/,
    );
    await person.type("/nope\n");
    assert.match(await person.until("\n> "), /There is no \/nope; \/help shows what there is\n/);
    await person.type("/etc/hosts is a file\n");
    assert.match(await person.until("\n> "), /quick\n/);
    await person.type("/quit\n");
    const { code, screen } = await person.end();
    assert.equal(code, 0);
    assert.match(screen, /held; to go on: orrery resume \w+\n$/);
    const runs = JSON.parse((await project.run(["runs", "--json"])).stdout);
    assert.equal(runs.length, 3);
  });

  await t.step(
    "text is there while it comes; Ctrl-C stops it, /retry finishes it, twice leaves",
    async () => {
      const person = chat();
      await person.until("> ");
      await person.type("slow\n");
      await person.until("This takes ");
      await person.type("\x03");
      assert.match(
        await person.until("\n> "),
        /stopped; Ctrl-C once more ends the conversation\n\nThe answer was stopped: \/retry finishes it, \/back takes the message back\n> $/,
      );
      await person.type("more\n");
      assert.match(await person.until("\n> "), /The answer was stopped: \/retry finishes it/);
      await person.type("/retry\n");
      assert.match(await person.until("\n> "), /\nThis takes long\.\n {2}model/);
      await person.type("slow again\n");
      await person.until("This takes ");
      await person.type("\x03");
      await person.until("\n> ");
      await person.type("\x03");
      const { code, screen } = await person.end();
      assert.equal(code, 130);
      const [, id = ""] = /stopped; to go on: orrery resume (\w+)\n$/.exec(screen) ?? [];
      const resumed = atTerminal(["resume", id], {
        cwd: project.folder,
        env: { ...project.env, NO_COLOR: "1" },
      });
      const shown = await resumed.until("long.\n  model") + await resumed.until("\n> ");
      assert.match(
        shown,
        /^4 messages so far; the last:\n> slow\nThis takes long\.\n> slow again\nThis takes long\.\n {2}model/,
      );
      await resumed.type("\x04");
      const left = await resumed.end();
      assert.equal(left.code, 0);
      assert.match(left.screen, new RegExp(`held; to go on: orrery resume ${id}\n$`));
    },
  );

  await t.step("what was stopped and may not be done twice is asked about", async () => {
    await project.write(
      "wait.agent.yml",
      `version: "0.1"
structure:
  id: wait
  action:
    id: main
    chain:
      - { id: hello, message: { message: "Hello!", hold: true } }
      - { id: begin, message: { message: begun } }
      - { id: wait, gadget: { name: RunCommand, input: { command: sleep, args: ["5"] }, target: { slot: { name: got } } } }
      - { id: bye, message: { message: "Done." } }
`,
    );
    const person = atTerminal(["chat", "wait.agent.yml"], {
      cwd: project.folder,
      env: { ...project.env, NO_COLOR: "1" },
    });
    await person.until("> ");
    await person.type("go\n");
    assert.match(
      await person.until("[yes/no]"),
      /\nbegun\nRunning "sleep" \(sleep 5\): allow it for this run\? /,
    );
    await person.type("yes\n");
    await person.until("--allow-run=sleep (terminal)\n");
    await new Promise((resolve) => setTimeout(resolve, 300));
    await person.type("\x03");
    assert.match(await person.until("\n> "), /wait\.agent\.yml: Aborted[\s\S]*The answer was stopped: /);
    await person.type("/retry\n");
    await person.until("[again/done/stop]");
    await person.type("stop\n");
    assert.match(await person.until("\n> "), /Nothing was done: \/retry asks again/);
    await person.type("/retry\n");
    await person.until("[again/done/stop]");
    await person.type("done\n");
    const { code, screen } = await person.end();
    assert.equal(code, 0);
    assert.match(screen, /\nDone\.\ncompleted; /);
  });

  await t.step(
    "a line is edited with the arrow keys, and earlier messages come back, not the answers to questions",
    async () => {
      if (Deno.version.deno.startsWith("2.6.")) {
        return console.log(
          "not run here: Deno 2.6 loses what is typed between two lines, so that nothing is edited",
        );
      }
      const person = atTerminal(["chat", "-m", "script/asks.yml", "--tools", "WriteFile"], {
        cwd: project.folder,
        env: { ...project.env, NO_COLOR: "1" },
      });
      await person.until("\n> ");
      await person.type("frst\x1b[D\x1b[D\x1b[Di\n");
      await person.until("[yes/no]");
      await person.type("no\n");
      await person.until("\n> ");
      await person.type("\x1b[Aand \x1b[Hsay \x1b[Fmore\x7f\x7f\x7f\x7fmuch\n");
      await person.until("\n> ");
      await person.type("\x04");
      assert.equal((await person.end()).code, 0);
      const { stdout } = await project.run(["trace", await project.newest(), "--json"]);
      assert.match(stdout, /"say firstand much"/);
    },
  );

  await t.step("a conversation that comes to its end ends the chat", async () => {
    const person = chat();
    for (const message of ["1", "2", "3", "4", "5"]) {
      await person.until("\n> ");
      await person.type(`${message}\n`);
    }
    await person.until("\n> ");
    await person.type("6\n");
    const { code, screen } = await person.end();
    assert.equal(code, 0);
    assert.match(screen, /6\nBye\.\ncompleted; all of it: orrery show conversation \w+\n$/);
  });
});
