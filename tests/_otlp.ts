// A collector on loopback that takes nothing but what OpenTelemetry's own schema allows, and the spans that it was sent.
import assert from "node:assert/strict";
import { join } from "node:path";
import protobuf from "protobufjs";
import { withServer } from "./_loopback.ts";
import { PROJECT_ROOT } from "./_run.ts";

/** A span, its attributes as plain values. */
export interface CollectedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  /** `intValue`, `doubleValue` and so on, by attribute. */
  readonly types: Readonly<Record<string, string>>;
  readonly status: { readonly code: number; readonly message?: string };
  readonly links?: readonly { readonly traceId: string; readonly spanId: string }[];
}

/** What a collector was sent. */
export interface Collected {
  readonly port: number;
  /** What `OTEL_EXPORTER_OTLP_ENDPOINT` says to reach it. */
  readonly env: Readonly<Record<string, string>>;
  readonly requests: { readonly path: string; readonly headers: Headers; readonly text: string }[];
  readonly spans: CollectedSpan[];
  /** Of the last request. */
  resource: Readonly<Record<string, unknown>>;
}

/** A collector for the time of a work. What it finds wrong fails the test. @param answer Default: what a collector answers that has taken all */
export async function collecting(
  work: (collected: Collected) => Promise<void>,
  answer: (request: number) => Response | Promise<Response> = () => Response.json({ partialSuccess: {} }),
): Promise<void> {
  const wrong: unknown[] = [];
  let collected: Collected | undefined;
  await withServer(async (request) => {
    const text = await request.text();
    const { pathname: path } = new URL(request.url);
    assert.ok(collected);
    collected.requests.push({ path, headers: request.headers, text });
    const answered = await answer(collected.requests.length);
    if (answered.status === 200) {
      try {
        take(JSON.parse(text), collected);
      } catch (error) {
        wrong.push(error);
      }
    }
    return answered;
  }, async (port) => {
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` };
    await work(collected = { port, env, requests: [], spans: [], resource: {} }).catch((error) => {
      throw wrong[0] ?? error;
    });
  });
  if (wrong.length > 0) throw wrong[0];
}

type Given = Readonly<Record<string, unknown>>;

const given = (value: unknown): readonly Given[] => value as readonly Given[] ?? [];

function take(request: Given, collected: Collected): void {
  assertOtlp(request);
  for (const { resource, scopeSpans } of given(request.resourceSpans)) {
    collected.resource = plain((resource as Given).attributes).values;
    for (const { spans } of given(scopeSpans)) {
      for (const span of given(spans)) {
        const { values: attributes, types } = plain(span.attributes);
        collected.spans.push({ ...span, attributes, types } as unknown as CollectedSpan);
      }
    }
  }
}

function plain(attributes: unknown): Record<"values", Given> & Record<"types", Record<string, string>> {
  const all = given(attributes).map(({ key, value }) => {
    const [type = "", content] = Object.entries(value as Given)[0] ?? [];
    const list = type === "arrayValue" ? given((content as Given).values).map((each) => each.stringValue) : 0;
    return [String(key), type, list || (type === "intValue" ? Number(content) : content)] as const;
  });
  assert.equal(new Set(all.map(([key]) => key)).size, all.length, "no attribute stands twice");
  return {
    values: Object.fromEntries(all.map(([key, , value]) => [key, value])),
    types: Object.fromEntries(all.map(([key, type]) => [key, type])),
  };
}

let requestType: protobuf.Type | undefined;

/** The schema is the one of open-telemetry/opentelemetry-proto. */
function exportRequest(): protobuf.Type {
  const root = new protobuf.Root();
  for (const name of ["common", "resource", "trace", "trace_service"]) {
    protobuf.parse(Deno.readTextFileSync(join(PROJECT_ROOT, "tests/spec/otlp", `${name}.proto`)), root);
  }
  root.resolveAll();
  return root.lookupType("opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest");
}

/** It is what the schema allows in the JSON of OTLP, and the same after it was protobuf. @throws {AssertionError} that says where */
export function assertOtlp(request: Given): void {
  const type = requestType ??= exportRequest();
  const message = type.fromObject(checked(type, request, "request"));
  const plain = (of: protobuf.Message) => type.toObject(of, { longs: String, bytes: String, defaults: true });
  assert.deepEqual(plain(type.decode(type.encode(message).finish())), plain(message));
}

/** The value as protobufjs takes it; in the JSON of OTLP ids are hexadecimal, enums are numbers, and 64 bits are text. */
function checked(type: protobuf.Type, value: Given, at: string): Given {
  for (const { name, fieldsArray } of type.oneofsArray) {
    const set = fieldsArray.filter((field) => field.name in value);
    assert.ok(set.length <= 1, `${at}: one of ${name}, found ${set.map((field) => field.name)}`);
  }
  return Object.fromEntries(
    Object.entries(value).map(([key, content]) => {
      const place = `${at}.${key}`;
      const field = type.fields[key];
      assert.ok(field, `${place} is no field of ${type.name}`);
      if (!field.repeated) return [key, checkedField(field, content, place)];
      assert.ok(Array.isArray(content), `${place}: a list`);
      return [key, content.map((each, index) => checkedField(field, each, `${place}[${index}]`))];
    }),
  );
}

const ID_DIGITS: Readonly<Record<string, number>> = { traceId: 32, spanId: 16, parentSpanId: 16 };

function checkedField({ name, type, resolvedType }: protobuf.Field, value: unknown, at: string): unknown {
  if (resolvedType instanceof protobuf.Type) {
    assert.ok(typeof value === "object" && value !== null && !Array.isArray(value), `${at}: an object`);
    return checked(resolvedType, value as Given, at);
  }
  if (resolvedType instanceof protobuf.Enum) {
    assert.ok(Object.values(resolvedType.values).includes(Number(value)) && typeof value === "number", at);
    return value;
  }
  switch (type) {
    case "string":
    case "bool":
      assert.equal(typeof value, type === "bool" ? "boolean" : "string", at);
      return value;
    case "bytes":
      assert.match(String(value), new RegExp(`^[0-9a-f]{${ID_DIGITS[name]}}$`), at);
      assert.match(String(value), /[^0]/, at);
      return btoa(
        (String(value).match(/../g) ?? []).map((digits) => String.fromCharCode(parseInt(digits, 16))).join(
          "",
        ),
      );
    case "double":
    case "uint32":
    case "fixed32":
      assert.equal(typeof value, "number", at);
      return value;
    case "int64":
    case "fixed64":
      assert.match(typeof value === "string" ? value : "", /^\d{1,19}$/, `${at}: digits in a text`);
      return value;
    default:
      assert.fail(`${at}: a value of the type ${type} was not expected`);
  }
}

/** The spans as a tree, a line each: `name` behind two blanks for each span that it is in, in the order in which they began. */
export function spanTree(spans: readonly CollectedSpan[]): readonly string[] {
  const ids = new Set(spans.map(({ spanId }) => spanId));
  const linesOf = (parent: string | undefined, depth: number): readonly string[] =>
    spans.filter(({ parentSpanId }) =>
      parent === undefined ? parentSpanId === undefined || !ids.has(parentSpanId) : parentSpanId === parent
    ).sort((a, b) => Number(BigInt(a.startTimeUnixNano) - BigInt(b.startTimeUnixNano))).flatMap((span) => {
      const error = span.attributes["error.type"];
      const line = "  ".repeat(depth) + span.name + (error === undefined ? "" : ` (${error})`);
      return [line, ...linesOf(span.spanId, depth + 1)];
    });
  return linesOf(undefined, 0);
}

/** What holds for the spans of every trace. */
export function assertSound(
  spans: readonly CollectedSpan[],
  { from, to }: Record<"from" | "to", number>,
): void {
  const byId = new Map(spans.map((span) => [span.spanId, span]));
  assert.equal(byId.size, spans.length, "no id stands twice");
  assert.equal(new Set(spans.map(({ traceId }) => traceId)).size, 1, "one trace");
  for (const span of spans) {
    const { name, parentSpanId, status, attributes, types } = span;
    const [start, end] = [BigInt(span.startTimeUnixNano), BigInt(span.endTimeUnixNano)];
    const within = [BigInt(from - 2) * 1_000_000n, BigInt(to + 2) * 1_000_000n] as const;
    assert.ok(within[0] <= start && start <= end && end <= within[1], `${name}: ${start} to ${end}`);
    const parent = byId.get(parentSpanId ?? "");
    assert.ok((parentSpanId === undefined) === (parent === undefined), `${name} is in a span that is there`);
    if (parent !== undefined) {
      assert.ok(BigInt(parent.startTimeUnixNano) <= start, `${name} begins in ${parent.name}`);
      assert.ok(end <= BigInt(parent.endTimeUnixNano), `${name} ends in ${parent.name}`);
    }
    assert.equal(status.code, attributes["error.type"] === undefined ? 0 : 2, name); // receivers miss it where it is left out
    for (const [key, type] of Object.entries(types)) {
      const expected = /tokens$|\.attempt$/.test(key)
        ? "intValue"
        : /time_to_first_chunk$|\.cost$/.test(key)
        ? "doubleValue"
        : key === "gen_ai.request.stream"
        ? "boolValue"
        : key === "gen_ai.response.finish_reasons"
        ? "arrayValue"
        : "stringValue";
      assert.equal(type, expected, key);
    }
  }
}
