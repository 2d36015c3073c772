let aborted = 0;

export default {
  name: "Patience",
  description: "Waits until it is told to stop, and says how often it was.",
  input: { type: "object", properties: { ask: { type: "boolean" } } },
  timeoutMs: 300,
  run: ({ ask = false }: { ask?: boolean }, { signal }: { signal: AbortSignal }) =>
    ask ? aborted : new Promise((_resolve, reject) => {
      signal.addEventListener("abort", () => {
        aborted++;
        reject(signal.reason);
      });
    }),
};
