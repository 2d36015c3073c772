// 12 characters: 7 of the time in steps of 32 ms, enough till 2059, and 5 that are random. So ids sort by time, and two processes that
// begin a run in the same moment do not meet.

/** Crockford's base 32: no i, l, o and u, which are read for others. */
const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";
const BASE = ALPHABET.length;
const EPOCH_MS = Date.UTC(2025, 0, 1);
const STEP_MS = 32;
const TIME_LENGTH = 7;
const RANDOM_LENGTH = 5;

/**
 * The id of a run that begins now.
 *
 * @param now ms since 1970
 */
export function newRunId(now: number): string {
  const steps = Math.floor(Math.max(0, now - EPOCH_MS) / STEP_MS) % BASE ** TIME_LENGTH;
  const time = Array.from(
    { length: TIME_LENGTH },
    (_, i) => digit(Math.floor(steps / BASE ** (TIME_LENGTH - 1 - i))),
  );
  return time.join("") + Array.from(crypto.getRandomValues(new Uint8Array(RANDOM_LENGTH)), digit).join("");
}

/** What was meant by an id as somebody typed it: capitals, and the letters that ids do not have. */
export function typedRunId(text: string): string {
  return text.trim().toLowerCase().replaceAll("o", "0").replaceAll(/[il]/g, "1");
}

const digit = (value: number): string => ALPHABET.charAt(value % BASE);
