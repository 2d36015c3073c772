/** Settles when all promises that are ready have been gone on with. Not a timer: in Deno one of 0 ms takes over a millisecond. */
export function eventLoopTurn(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      port2.close();
      resolve();
    };
    port2.postMessage(null);
  });
}
