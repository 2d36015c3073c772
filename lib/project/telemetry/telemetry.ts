// OpenTelemetry, where the user's own settings and the environment both want it: spans of runs go to a collector by OTLP over HTTP, as JSON.
// Own code: the packages for it are ten, take longer to load than most commands take, and make spans of what happens now, while ours follow
// from what was told, with ids that a run keeps.
import { collectedBytes, maybeJsonObject, messageOf, objectOrEmpty, VERSION } from "../../core/core.ts";
import type { Config } from "../../catalog/config/config.ts";
import { hostHttp } from "../../host/http/http.ts";
import { atExit, hostEnv, ofThisProgram, printShortError, quietTimer } from "../../host/process.ts";
import type { RunObserver } from "../../run/run.ts";
import { keyValues, runSpans, type RunSpansOptions } from "./spans.ts";

/** Makes what follows a run that begins, or goes on; undefined where whoever called Orrery does not want it. @param name what is run */
export type ObserveRun = (name: string | undefined, traceparent?: string) => RunObserver | undefined;

/** So much is sent at once, and so many of that wait; what is more is lost, and told. */
const BATCH_CHARACTERS = 1024 * 1024;
const MAX_BATCHES = 64;
/** Spans wait so long for others. */
const EVERY_MS = 2_000;
/** How long a request may take, and a run that has ended may hold up the end of its process. */
const LAST_MS = 3_000;
/** A view may be drawn on the same terminal, which ends with its run. */
const VIEW_MS = 50;

const ADVICE = "start a collector there, let OTEL_EXPORTER_OTLP_ENDPOINT name one, or take telemetry.otlp " +
  "out of your own config.yaml (orrery help config)";

/** Sends to where the environment says: that is the user's word, which no grant bounds. */
export function observing({ content: hasContent = false }: Config["telemetry"]): ObserveRun {
  const { url, send } = collector();
  const print = ofThisProgram(printShortError);
  /** JSON of spans, in the order in which they ended. */
  let batch: string[] = [];
  let characters = 0;
  const batches: (readonly string[])[] = [];
  /** Runs under way. */
  let runs = 0;
  let stop = new AbortController();
  let timer: Disposable | undefined;
  let sending: Promise<void> | undefined;
  let lost = 0;
  let why: string | undefined;
  let isTold = false;

  function flush(): Promise<void> {
    timer?.[Symbol.dispose]();
    timer = undefined;
    if (batch.length > 0 && batches.length === MAX_BATCHES) lose(batch.length, "it is too slow");
    else if (batch.length > 0) batches.push(batch);
    batch = [];
    characters = 0;
    if (batches.length === 0) return Promise.resolve();
    return sending ??= sendAll();
  }

  async function sendAll(): Promise<void> {
    for (let next = batches[0]; next !== undefined; next = batches[0]) {
      const failure = await send(next.join(), stop.signal);
      if (failure?.canPass === true && runs > 0) {
        timer ??= quietTimer(EVERY_MS, flush);
        break;
      }
      batches.shift();
      if (failure !== undefined) lose(failure.spans ?? next.length, failure.why);
    }
    sending = undefined;
  }

  function lose(spans: number, because: string): void {
    lost += spans;
    why ??= because;
  }

  function tell(): void {
    if (why === undefined || isTold) return;
    isTold = true;
    print(`warning: ${lost} ${lost === 1 ? "span" : "spans"} did not reach ${url}: ${why}; ${ADVICE}\n`);
  }

  const options = {
    hasContent,
    onBegin() {
      if (runs++ === 0) stop = new AbortController();
    },
    onSpan(span: object) {
      const text = JSON.stringify(span);
      batch.push(text);
      characters += text.length;
      if (characters > BATCH_CHARACTERS) flush();
      else timer ??= quietTimer(EVERY_MS, flush);
    },
    onEnd() {
      runs--;
      const last = stop;
      const late = runs > 0 ? undefined : quietTimer(LAST_MS, () => last.abort());
      const held = atExit(() => undefined); // the process waits for it
      flush().finally(() => {
        late?.[Symbol.dispose]();
        setTimeout(() => {
          tell();
          held[Symbol.dispose]();
        }, why === undefined || isTold ? 0 : VIEW_MS);
      });
    },
  };
  return (name, traceparent) => {
    const { isWanted, parent } = around(traceparent);
    return isWanted ? runSpans({ ...options, name, parent }) : undefined;
  };
}

/** Why something did not arrive. */
interface Failure {
  readonly why: string;
  /** It may be taken later. */
  readonly canPass?: boolean;
  /** So many spans of it. Default: all. */
  readonly spans?: number;
}

// The variables of OpenTelemetry's specification, as its exporters read them. An empty one counts as absent.

const setting = (name: string): string | undefined => hostEnv(`OTEL_${name}`) || undefined;

const traceSetting = (name: string): string | undefined =>
  setting(`EXPORTER_OTLP_TRACES_${name}`) ?? setting(`EXPORTER_OTLP_${name}`);

/** What the runs are a part of. */
function around(
  traceparent = hostEnv("TRACEPARENT") ?? "",
): { readonly isWanted: boolean; readonly parent: RunSpansOptions["parent"] } {
  const [, traceId = "", spanId = "", flags = "01"] =
    /^[0-9a-f]{2}-(?!0+-)([0-9a-f]{32})-(?!0+-)([0-9a-f]{16})-([0-9a-f]{2})/.exec(traceparent) ?? [];
  return {
    isWanted: parseInt(flags, 16) % 2 === 1 && setting("SDK_DISABLED") !== "true",
    parent: traceId === "" ? undefined : { traceId, spanId },
  };
}

function collector(): {
  /** Without what may be a secret. */
  readonly url: string;
  send(spans: string, stop: AbortSignal): Promise<Failure | undefined>;
} {
  const whole = setting("EXPORTER_OTLP_TRACES_ENDPOINT");
  const written = traceSetting("ENDPOINT") ?? "";
  const parsed = URL.parse(whole ?? `${written.replace(/\/$/, "")}/v1/traces`);
  if (parsed === null || !/^https?:$/.test(parsed.protocol) || parsed.username !== "") {
    const why = "expected a URL such as http://localhost:4318, without a name or a password";
    return {
      url: JSON.stringify(parsed?.username ? parsed.host : written),
      send: () => Promise.resolve({ why }),
    };
  }
  const http = hostHttp({ check: () => undefined, hidesQueries: true });
  const headers = { "content-type": "application/json", ...pairs(traceSetting("HEADERS")) };
  const service = setting("SERVICE_NAME");
  const attributes = keyValues({
    "service.name": "orrery",
    "service.version": VERSION,
    ...pairs(setting("RESOURCE_ATTRIBUTES")),
    ...(service !== undefined && { "service.name": service }),
  });
  const scope = { name: "orrery", version: VERSION };
  return {
    url: parsed.origin + parsed.pathname,
    async send(spans, stop) {
      const text = `{"resourceSpans":[{"resource":${JSON.stringify({ attributes })},"scopeSpans":[{"scope":${
        JSON.stringify(scope)
      },"spans":[${spans}]}]}]}`;
      const late = AbortSignal.timeout(Math.min(Number(traceSetting("TIMEOUT")) || LAST_MS, LAST_MS));
      const signal = AbortSignal.any([late, stop]);
      try {
        const { status, body } = await http.open(parsed.href, {
          method: "POST",
          headers,
          body: text,
          redirect: "manual",
          signal,
        });
        return refusal(status, await collectedBytes(body, 65_536));
      } catch (error) {
        const why = messageOf(error).replace(/^Cannot fetch "[^"]*": /, "");
        return { why: signal.aborted ? "it did not answer in time" : why, canPass: true };
      }
    },
  };
}

function refusal(status: number, { body }: { readonly body: Uint8Array }): Failure | undefined {
  if (status >= 300) {
    const what = status < 400 ? ", a redirect, which is not followed" : "";
    return { why: `it answered ${status}${what}`, canPass: [429, 502, 503, 504].includes(status) };
  }
  const { partialSuccess } = maybeJsonObject(new TextDecoder().decode(body)) ?? {};
  const spans = Number(objectOrEmpty(partialSuccess).rejectedSpans);
  return spans > 0 ? { why: "it refused them", spans } : undefined;
}

/** `a=1,b=2`; the values are URL-encoded. */
function pairs(text = ""): Record<string, string> {
  const all = [...text.matchAll(/([^=,\s]+)\s*=\s*([^,]*)/g)];
  return Object.fromEntries(all.map(([, name, value = ""]) => [name, unescaped(value.trim())]));
}

function unescaped(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}
