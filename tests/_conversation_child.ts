// A process that holds a conversation, for the tests that kill it: deno run -A _conversation_child.ts FOLDER PORT USER [ID]. Each line that
// it prints is an event, and the last one, `done`, what was said.

import { hold, openStore } from "./_killable_conversation.ts";

const [folder = "", port = "", user = "", id] = Deno.args;

using store = openStore(folder);
await hold({ folder, port: Number(port) }, {
  store,
  user,
  id,
  print: (line) => void Deno.stdout.writeSync(new TextEncoder().encode(`${JSON.stringify(line)}\n`)),
});
