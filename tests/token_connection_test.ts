// Who is let in at the socket of a gadget's process: with a listener whose connections all come, and speak, in the same turn.
import assert from "node:assert/strict";
import {
  type GadgetConnection,
  type GadgetListener,
  newToken,
  tokenConnection,
} from "../lib/host/commands/gadget_listener.ts";

/** Says nothing before the turn has come. */
class FakeConnection {
  isClosed = false;
  #left: Uint8Array;
  readonly #turn: Promise<void>;

  constructor(said: Uint8Array, turn: Promise<void>) {
    this.#left = said;
    this.#turn = turn;
  }

  async read(into: Uint8Array): Promise<number | null> {
    await this.#turn;
    const piece = this.#left.subarray(0, into.length);
    this.#left = this.#left.subarray(piece.length);
    into.set(piece);
    return piece.length === 0 ? null : piece.length;
  }

  close(): void {
    this.isClosed = true;
  }
}

/** Five that say this, all in the turn in which the last of them has been accepted, and who waits for them. */
function five(said: Uint8Array) {
  const turn = Promise.withResolvers<void>();
  const closed = Promise.withResolvers<void>();
  const connections = Array.from({ length: 5 }, () => new FakeConnection(said, turn.promise));
  let next = 0;
  const listener = {
    close: closed.resolve,
    async accept(): Promise<GadgetConnection> {
      const connection = connections[next++];
      if (connection !== undefined) return connection as unknown as GadgetConnection;
      turn.resolve();
      await closed.promise;
      throw new Deno.errors.BadResource();
    },
  };
  return { connections, listener: listener as unknown as GadgetListener["listener"] };
}

Deno.test("of several that say the token in the same turn one is let in, and the others are closed", async () => {
  const token = newToken();
  const { connections, listener } = five(new TextEncoder().encode(token));
  const letIn = await tokenConnection(listener, { token, signal: new AbortController().signal });
  await new Promise((resolve) => setTimeout(resolve));
  const open = connections.filter(({ isClosed }) => !isClosed);
  assert.equal(open.length, 1);
  assert.equal(open[0], letIn as unknown);
});

Deno.test("of several that say another token none is let in, and all are closed at the end", async () => {
  const { connections, listener } = five(new TextEncoder().encode(newToken()));
  const given = new AbortController();
  const waiting = tokenConnection(listener, { token: newToken(), signal: given.signal });
  await new Promise((resolve) => setTimeout(resolve));
  given.abort(new Error("given up"));
  await assert.rejects(waiting, /given up/);
  assert.deepEqual(connections.map(({ isClosed }) => isClosed), connections.map(() => true));
});
