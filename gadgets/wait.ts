import { type Gadget, onlyFields, type World } from "../lib/core/core.ts";

interface Input {
  readonly seconds: number;
}

const MAX_SECONDS = 3600;
/** A wait tells its progress at most this often, and at most every second. */
const MAX_REPORTS = 60;

/** `Wait`: lets time pass, by `world.clock`. */
export default function wait(world: World): Gadget<Input> {
  return {
    name: "Wait",
    description:
      "Waits for the given number of seconds (at most 3600), then returns how many seconds it waited. For pauses " +
      "between attempts, or until something outside has had time to happen.",
    input: onlyFields({
      seconds: {
        type: "number",
        minimum: 0,
        maximum: MAX_SECONDS,
        description: "How long to wait, in seconds; fractions are allowed. At most 3600.",
      },
    }, ["seconds"]),
    output: { type: "number" },
    idempotent: true,
    repeatable: true,
    timeoutMs: (MAX_SECONDS + 10) * 1000,
    examples: [{ input: { seconds: 2.5 } }],
    async run({ seconds }, { signal, progress }) {
      if (!(seconds >= 0 && seconds <= MAX_SECONDS)) {
        throw new RangeError(`Cannot wait ${seconds} seconds: expected 0 to ${MAX_SECONDS}`);
      }
      const start = world.clock.now();
      const sliceMs = Math.max(1000, seconds * 1000 / MAX_REPORTS);
      while (true) {
        const passedMs = world.clock.now() - start;
        const leftMs = seconds * 1000 - passedMs;
        if (leftMs <= 0) break;
        progress(Math.round(passedMs / 1000), seconds);
        await world.clock.sleep(Math.min(sliceMs, leftMs), signal);
      }
      progress(seconds, seconds);
      return seconds;
    },
  };
}
