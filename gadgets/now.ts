import { didYouMean, type Gadget, onlyFields, type World } from "../lib/core/core.ts";

interface Input {
  readonly zone?: string;
  readonly format?: "iso" | "unix" | "unix-ms";
}

/** `Now`: the wall clock, by `world.wallTime`. */
export default function now(world: World): Gadget<Input> {
  return {
    name: "Now",
    description:
      "Returns the current date and time: ISO 8601 text such as 2031-05-04T09:30:00.000+02:00, or seconds or " +
      "milliseconds since 1970. Call it whenever the answer depends on today; do not guess the date.",
    input: onlyFields({
      zone: {
        type: "string",
        description:
          'The time zone of the ISO text, an IANA name such as "Europe/Berlin" or an offset such as "+02:00". ' +
          "Default: UTC.",
      },
      format: {
        enum: ["iso", "unix", "unix-ms"],
        description:
          '"iso" (the default) for text, "unix" for whole seconds since 1970, "unix-ms" for milliseconds.',
      },
    }),
    output: { type: ["string", "number"] },
    idempotent: true,
    repeatable: true,
    timeoutMs: 10_000,
    examples: [
      { input: {}, comment: "2031-05-04T07:30:00.000Z" },
      { input: { zone: "Europe/Berlin" }, comment: "2031-05-04T09:30:00.000+02:00" },
      { input: { format: "unix" }, comment: "1935646200" },
    ],
    run({ zone, format = "iso" }) {
      const timeMs = Math.floor(world.wallTime());
      const text = isoText(timeMs, zone);
      if (format === "unix") return Math.floor(timeMs / 1000);
      return format === "unix-ms" ? timeMs : text;
    },
  };
}

function isoText(timeMs: number, zone: string | undefined): string {
  const utc = new Date(timeMs).toISOString();
  if (zone === undefined) return utc;
  const minutes = offsetMinutes(timeMs, zone);
  const local = new Date(timeMs + minutes * 60_000).toISOString().slice(0, -1);
  const size = Math.abs(minutes);
  const two = (number: number) => String(number).padStart(2, "0");
  return `${local}${minutes < 0 ? "-" : "+"}${two(Math.floor(size / 60))}:${two(size % 60)}`;
}

/** Of the zone at that time. RFC 3339 has no seconds in an offset, so those of before 1972 are rounded. */
function offsetMinutes(timeMs: number, zone: string): number {
  const parts = Object.fromEntries(
    formatOf(zone).formatToParts(timeMs).map(({ type, value }) => [type, Number(value)]),
  );
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
  const localMs = Date.UTC(year, month - 1, day, hour, minute, second);
  return Math.round((localMs - Math.floor(timeMs / 1000) * 1000) / 60_000);
}

function formatOf(zone: string): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat("en-US", {
      timeZone: zone,
      calendar: "gregory",
      numberingSystem: "latn",
      hourCycle: "h23",
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
      second: "numeric",
    });
  } catch {
    const near = didYouMean(zone, Intl.supportedValuesOf("timeZone"));
    throw new Error(
      `Unknown time zone "${zone}": expected an IANA name such as "Europe/Berlin" or "UTC".${near}`,
    );
  }
}
