// Servers killed, and told to end, under load, at moments of chance: every run that was accepted goes on to its end.

import assert from "node:assert/strict";
import { serveProject } from "../_served_project.ts";
import { testProject } from "../_project.ts";
import { allDone, Clients, LOAD_FILES, LOAD_FLAGS } from "../_server_load.ts";
import { pause } from "../_waiting.ts";

const ROUNDS = 30;
const MOST_MS = 2_500;

/** Ends it so often; gives what was accepted and gone on with. */
export async function serverKills(): Promise<string> {
  await using project = await testProject(LOAD_FILES);
  let [accepted, resumed] = [0, 0];
  for (let round = 0; round < ROUNDS; round++) {
    const signal = round % 3 === 2 ? "SIGTERM" : "SIGKILL";
    await using server = await serveProject(project, LOAD_FLAGS);
    const clients = new Clients(server, 8);
    await pause(Math.random() * MOST_MS);
    server.signal(signal);
    assert.equal(await server.exit, signal === "SIGKILL" ? 137 : 0);
    await clients.stop();
    await using again = await serveProject(project, LOAD_FLAGS);
    resumed += (await allDone(again, clients.seen.accepted)).resumed;
    accepted += clients.seen.accepted.size;
  }
  return `${ROUNDS} servers ended, ${accepted} runs accepted, ${resumed} gone on with, none lost`;
}
