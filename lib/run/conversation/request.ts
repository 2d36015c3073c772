import {
  createSecrets,
  type HttpOptions,
  type Json,
  type JsonObject,
  messageOf,
  PermissionRefused,
  type Secrets,
} from "../../core/core.ts";
import type { AgentStep, RequestFields } from "../../parse/agent/agent.ts";
import { ConversationStepError, type StepWork } from "./work.ts";

/** A step that makes a request. */
export type RequestStep = Extract<AgentStep, RequestFields>;

/** The request of a step, filled, but for the values of variables. */
export interface ConversationRequest {
  readonly method: string;
  /** As everybody may see it, with `${env.NAME}` as it was written. */
  readonly url: string;
  /** The same of all of it: what a journal keeps. */
  readonly input: JsonObject;
  /** Why it must not be sent. */
  readonly problem?: string;
  /** A slot has a say in who is asked. */
  readonly isHostFilled: boolean;
  /** Reads the variables. @throws {PermissionRefused}; {Error} that says what to do */
  ready(): Promise<ReadyRequest>;
}

/** A request with everything in it. */
export interface ReadyRequest {
  readonly url: string;
  readonly options: Pick<HttpOptions, "method" | "headers" | "body" | "secretHeaders">;
  /** What must not be seen. */
  readonly values: EnvValues;
}

interface Header {
  readonly name: string;
  readonly value: EnvText;
}

/**
 * Fills the request of a step (conversations.md 2.6).
 *
 * @param key of its effect: an unfinished request is sent again, and whoever gets it twice can tell by it (turn.md 3)
 * @param defaults headers, where the file does not set them
 * @throws {ConversationStepError} for a header that cannot be sent
 */
export function conversationRequest(
  work: StepWork<RequestStep>,
  { key, defaults = {} }: { readonly key: string; readonly defaults?: Readonly<Record<string, string>> },
): ConversationRequest {
  const { step, means, run } = work;
  const url = new EnvText(step.url.trim(), (text) => work.fill(text, "url"));
  const body = bodyOf(work);
  const headers = headersOf(work, { ...defaults, ...body?.headers });
  const shown = headerRecord(headers, ({ shown }) => shown);
  const problem = headerProblem(shown);
  if (problem !== undefined) throw new ConversationStepError(step.id, problem);
  const leading = leadsElsewhere(step.url.trim(), url.shown);
  return {
    method: step.method,
    url: url.shown,
    input: { method: step.method, url: url.shown, headers: shown, ...(body && { body: body.text }) },
    ...(leading && { problem: PATH_PROBLEM }),
    isHostFilled: AUTHORITY.exec(step.url.trim())?.[0].includes("{{") ?? false,
    async ready() {
      const names = [url, ...headers.map(({ value }) => value)].flatMap(({ names }) => names);
      const values = await EnvValues.read(names, (name) => means.env(name));
      const full = headerRecord(headers, (value) => value.with(values));
      const problem = headerProblem(full);
      if (problem !== undefined) throw new Error(problem);
      return {
        url: url.with(values),
        values,
        options: {
          method: step.method,
          headers: { ...idempotencyKey(full, step.method, `${run.id}/${key}`), ...full },
          secretHeaders: headers.filter(({ value }) => value.names.length > 0).map(({ name }) => name),
          body: body?.text,
        },
      };
    },
  };
}

/** Scheme, host and port, as far as the file writes them. */
const AUTHORITY = /^(?:[a-z][a-z0-9+.-]*:\/\/)?[^/?#]*/i;

const PATH_PROBLEM = 'a slot puts "." or ".." into its path, which would lead elsewhere';
const DOTS = /^(?:\.|%2e){1,2}$/i;

/** What a value can do to the path of a URL though it is encoded: be a part of it that stands for another one. */
function leadsElsewhere(written: string, filled: string): boolean {
  const parts = (url: string): readonly string[] => url.replace(/[?#].*$/s, "").split(/[\\/]/);
  const before = parts(written);
  return parts(filled).some((part, index) => DOTS.test(part) && !DOTS.test(before[index] ?? ""));
}

/** Text as it is; mappings and lists as JSON. */
function bodyOf({ step, fillValue }: StepWork<RequestStep>) {
  const body: Json = step.body === undefined ? null : fillValue(step.body);
  if (body === null) return undefined;
  const headers: Readonly<Record<string, string>> = typeof body === "object"
    ? { "Content-Type": "application/json" }
    : {};
  return { text: typeof body === "string" ? body : JSON.stringify(body), headers };
}

function headersOf(
  { step, fill }: StepWork<RequestStep>,
  defaults: Readonly<Record<string, string>>,
): readonly Header[] {
  const set = new Set(step.headers.map(({ key }) => key.toLowerCase()));
  const own = step.headers.map(({ key, value }) => ({
    name: key,
    value: new EnvText(value, (text) => fill(text)),
  }));
  const added = Object.entries(defaults).filter(([name]) => !set.has(name.toLowerCase()));
  return [...added.map(([name, value]) => ({ name, value: new EnvText(value, (text) => text) })), ...own];
}

/** Headers of one name are one, whatever its case (RFC 9110, 5.3). */
function headerRecord(
  headers: readonly Header[],
  textOf: (value: EnvText) => string,
): Readonly<Record<string, string>> {
  const values = new Map<string, { readonly name: string; readonly value: string }>();
  for (const { name, value } of headers) {
    const before = values.get(name.toLowerCase());
    const text = textOf(value);
    values.set(name.toLowerCase(), {
      name: before?.name ?? name,
      value: before === undefined ? text : `${before.value}, ${text}`,
    });
  }
  return Object.fromEntries([...values.values()].map(({ name, value }) => [name, value]));
}

/** What is wrong with the first header that cannot be sent; its value is not shown. */
function headerProblem(headers: Readonly<Record<string, string>>): string | undefined {
  for (const [name, value] of Object.entries(headers)) {
    if (/[\r\n]/.test(value)) return `header "${name}" must be a single line`;
    if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) {
      return `header "${name}" holds a character that no header can have, expected Latin-1 text`;
    }
  }
  return undefined;
}

function idempotencyKey(
  headers: Readonly<Record<string, string>>,
  method: string,
  key: string,
): Readonly<Record<string, string>> {
  const isSet = Object.keys(headers).some((name) => name.toLowerCase() === "idempotency-key");
  if (method === "GET" || isSet) return {};
  return { "Idempotency-Key": key.toWellFormed().replaceAll(/[^\x21-\x7e]+/g, encodeURIComponent) };
}

// The values of `${env.NAME}`: they go into a request, and nowhere else (conversations.md 3).

/** Takes values out of what a server says, which may repeat what it was sent. */
type AnswerMask = Pick<Secrets, "mask" | "stream">;

/** Values of variables by name, and how they are kept out of what others see. */
export class EnvValues {
  readonly #values: ReadonlyMap<string, string>;

  private constructor(values: ReadonlyMap<string, string>) {
    this.#values = values;
  }

  /** @throws {PermissionRefused}; {Error} that says what to do */
  static async read(
    names: Iterable<string>,
    env: (name: string) => string | Promise<string>,
  ): Promise<EnvValues> {
    const values = new Map<string, string>();
    for (const name of new Set(names)) values.set(name, await env(name));
    return new EnvValues(values);
  }

  get(name: string): string {
    return this.#values.get(name) ?? "";
  }

  /** What an error says of a request, without the values. */
  hiddenIn(error: unknown): Error {
    const { mask: hide } = this.#mask(1);
    if (!(error instanceof PermissionRefused)) return new Error(hide(messageOf(error)));
    const { message, request, flag } = error;
    return new PermissionRefused(hide(message), {
      request: { ...request, value: hide(request.value) },
      flag: hide(flag),
    });
  }

  /** What the run knows of secrets is taken out too; from now on that is these values, wherever they turn up. */
  answerMask(secrets: Secrets | undefined): AnswerMask {
    const own = this.#mask();
    if (secrets === undefined) return own;
    for (const [name, value] of this.#values) secrets.add(name, value);
    return {
      mask: (text) => secrets.mask(own.mask(text)),
      stream() {
        const [inner, outer] = [own.stream(), secrets.stream()];
        return {
          push: (text) => outer.push(inner.push(text)),
          end: () => outer.push(inner.end()) + outer.end(),
        };
      },
    };
  }

  /** @param minLength of a value that is looked for. Default: as of other secrets */
  #mask(minLength?: number): Secrets {
    const own = createSecrets({ label: placeOf, minLength });
    for (const [name, value] of this.#values) own.add(name, value);
    return own;
  }
}

const placeOf = (name: string): string => `\${env.${name}}`;

// `${env.NAME}` in agent files (conversations.md 3). It counts where the file says it, and never in what a slot puts there.

const VARIABLE = /\$\{env\.([A-Za-z_]\w*)\}/g;

/** A filled text with the places of variables in it. */
export class EnvText {
  /** Texts and the names between them, in turn. */
  readonly #parts: readonly string[];

  /** @param fill fills the placeholders of what stands between the variables */
  constructor(text: string, fill: (text: string) => string) {
    this.#parts = text.split(VARIABLE).map((part, index) => index % 2 === 0 ? fill(part) : part);
  }

  /** With `${env.NAME}` as it was written: for everybody but the server. */
  get shown(): string {
    return this.#filled(placeOf);
  }

  get names(): readonly string[] {
    return this.#parts.filter((_, index) => index % 2 === 1);
  }

  with(values: EnvValues): string {
    return this.#filled((name) => values.get(name));
  }

  #filled(value: (name: string) => string): string {
    return this.#parts.map((part, index) => index % 2 === 0 ? part : value(part)).join("");
  }
}
