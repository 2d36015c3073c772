// The runs of several nodes. Whoever is asked for a run hands it to Restate, which gives it to one of the nodes, and follows it there: so any
// node can be asked about each.
import { scopeOf } from "../conversation/slots.ts";
import { isRecord, type Json, type Secrets, systemClock } from "../core/core.ts";
import { hostModelFetch } from "../host/http/model_fetch.ts";
import { type HttpServer, serveHttp } from "../host/http/serve.ts";
import { isDeno29 } from "../host/process.ts";
import { scopeText } from "../journal/run_conversation.ts";
import { UsageError } from "../service/exit_code.ts";
import type { RunEngine } from "../service/open_service.ts";
import type { Answered } from "../service/runs/asks.ts";
import { HeldRun } from "../service/runs/held_run.ts";
import type { RunRegistry } from "../service/runs/registry.ts";
import { type RunHandle, type RunShows, ServiceError } from "../service/service.ts";
import { BEAT_MS, following, LOOK_MS } from "./follow.ts";
import { nodeService, type NodeTask, type RunNodes } from "./node_service.ts";
import { refusalOf, toldAgain } from "./refusal.ts";
import { type RestateAddress, restateClient } from "./restate_client.ts";
import { durableNode, type RunTask, TaskRefused } from "./run_service.ts";

/** Which Restate keeps the runs, and how this node is reached. */
export interface EngineSettings extends RestateAddress {
  /** The one address that all nodes stand behind, to be registered. Default: that of this node. */
  readonly as?: string;
  /** Where this node listens for Restate and the other nodes. */
  readonly host: string;
  readonly port: number;
  /** Where the others reach it. Default: where it listens. */
  readonly node?: string;
  /** `publickeyv1_…` of Restate. */
  readonly identity?: string;
}

const ENGINE_KEYS = ["restate", "ingress", "as", "listen", "node", "identity"] as const;

/** Of `--engine restate=URL,ingress=URL,…`. @throws {UsageError} */
export function engineSettings(text: string): EngineSettings {
  const wrong = (what: string) => new UsageError([`--engine ${text}: ${what}`], "serve");
  const given: { [key in (typeof ENGINE_KEYS)[number]]?: string } = {};
  for (const part of text.split(",")) {
    const [name = "", ...value] = part.split("=");
    const key = ENGINE_KEYS.find((each) => each === name);
    if (key === undefined || value.length === 0) {
      throw wrong(
        `found ${JSON.stringify(part)}, expected NAME=VALUE with a NAME of ${ENGINE_KEYS.join(", ")}`,
      );
    }
    given[key] = value.join("=");
  }
  const { restate, listen = "127.0.0.1:9080", identity } = given;
  const urlOf = (key: (typeof ENGINE_KEYS)[number]): string | undefined => {
    const url = given[key]?.replace(/\/+$/, "");
    if (url !== undefined && !/^https?:$/.test(URL.parse(url)?.protocol ?? "")) {
      throw wrong(`${key}: found ${JSON.stringify(url)}, expected a URL such as http://127.0.0.1:9070`);
    }
    return url;
  };
  if (restate === undefined) throw wrong("expected restate=URL, the admin address of Restate");
  const [, host = "", port = ""] = /^(.+):(\d{1,5})$/.exec(listen) ?? [];
  if (host === "") throw wrong(`listen: found ${JSON.stringify(listen)}, expected HOST:PORT`);
  const admin = urlOf("restate") ?? "";
  return {
    admin,
    ingress: urlOf("ingress") ?? `${new URL(admin).protocol}//${new URL(admin).hostname}:8080`,
    as: urlOf("as"),
    node: urlOf("node"),
    host,
    port: Number(port),
    identity,
  };
}

/** So long a run may be without a node before that is told to whoever begins it, ms. */
const TAKER_MS = 60_000;
/** How often a node leaves a run to others that it cannot do: by then they were asked as often. */
const MOST_LEFT = 2;

export function durableRuns(
  settings: EngineSettings,
  { secrets, notice }: { readonly secrets: Secrets; readonly notice: (text: string) => void },
): RunEngine {
  const fetch = hostModelFetch({ check: () => undefined }); // the user has named all that is asked
  const restate = restateClient(settings, fetch);
  let perform: Parameters<RunNodes["open"]>[1];
  let registry: RunRegistry;
  let isEnding = (): boolean => false;
  /** Runs that this node is about to have. */
  const taking = new Map<string, Promise<unknown>>();
  /** How often this node has left a run to others. */
  const left = new Map<string, number>();
  const server: HttpServer = serveHttp({ host: settings.host, port: settings.port, fetch: answer });
  const address = settings.node ?? `http://${settings.host}:${server.port}`;
  const node = durableNode({ secrets, notice, address, identity: settings.identity, work });
  const follow = following({ node, restate, fetch, registry: () => registry });

  async function work({ run, task, isAgain, signal }: RunTask): Promise<void> {
    const follower = registry.find(run);
    if (follower?.isElsewhere) registry.leave(follower);
    const wish = task as unknown as NodeTask;
    const taken = perform(run, wish, isAgain).finally(() => taking.delete(run));
    taking.set(run, taken);
    const held = await taken.catch((error) => {
      throw refusal(error, { run, isAgain, isLookedAt: isAgain || wish.do === "start" });
    });
    left.delete(run);
    const lose = (): void => held instanceof HeldRun ? held.lose() : held.cancel();
    if (signal.aborted) lose();
    else signal.addEventListener("abort", lose, { once: true });
    const { status } = await held.ended;
    if (signal.aborted) registry.remove(run);
    if (status === "stopped" && isEnding()) {
      throw new Error("this node is about to end, so another one goes on");
    }
  }

  /** Why this node does not do a task: for good, or it leaves it to others. What was looked at before can be wrong only here. */
  function refusal(
    error: unknown,
    { run, isAgain, isLookedAt }: {
      readonly run: string;
      readonly isAgain: boolean;
      readonly isLookedAt: boolean;
    },
  ): unknown {
    const why = refusalOf(error);
    const times = (left.get(run) ?? 0) + 1;
    const isForGood = why !== undefined && (
      why.isSettled || (!why.isLacking && !isLookedAt) ||
      (times > MOST_LEFT && !(isAgain && why.isLacking))
    );
    if (isForGood) {
      left.delete(run);
      return new TaskRefused(secrets.maskJson(why.told));
    }
    left.set(run, times);
    server.hangUp(); // Restate asks again by the connection that it has
    return error;
  }

  /** Restate, and the other nodes. */
  async function answer(request: Request): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url);
    const [, what, run = ""] = /^\/orrery\/(\w+)\/([^/]+)$/.exec(pathname) ?? [];
    if (what === undefined) return await node.handler(request);
    const held = registry.find(run);
    if (held === undefined || held.isElsewhere) return new Response(null, { status: 404 });
    if (what === "has") return new Response("{}");
    if (what === "frames") {
      const reader = held.read({ after: Number(searchParams.get("after")) });
      return new Response(lines(reader), { headers: { "content-type": "application/jsonl" } });
    }
    const said: unknown = await request.json();
    if (!isRecord(said)) return new Response(null, { status: 400 });
    if (what === "cancel") held.cancel(String(said.reason));
    else {
      const isTaken = await held.answer(String(said.ask), said.answer as Answered["answer"], {
        by: String(said.by),
      });
      if (!isTaken) return new Response(null, { status: 409 });
    }
    return new Response("{}");
  }

  async function learn(run: string): Promise<void> {
    await taking.get(run)?.catch(() => undefined);
    await node.whenKept(run);
    if (node.has(run)) return;
    const kept = await restate.look(run, node.known(run));
    if (node.has(run)) return; // since then
    node.learn(run, kept);
    if (kept.count === 0) return registry.remove(run);
    const isFollowed = registry.find(run)?.isOver === false;
    if (isFollowed || kept.node === undefined) return;
    follow(run);
  }

  async function hand(run: string, task: NodeTask, shows?: RunShows): Promise<RunHandle> {
    let outcome: { readonly error?: unknown; readonly isRefused?: true } | undefined;
    const before = node.known(run);
    const isNew = task.do === "start" || task.do === "begin";
    restate.perform(run, secrets.maskJson(task as unknown as Json), { isNew }).then(
      () => outcome = {},
      (error) =>
        outcome = error instanceof TaskRefused ? { error: toldAgain(error.why), isRefused: true } : { error },
    );
    for (const until = performance.now() + TAKER_MS;;) {
      const kept = await restate.look(run, before).catch(() => undefined); // the task's own call says whether Restate answers
      if (outcome?.isRefused) throw outcome.error;
      const own = registry.find(run);
      if (own?.isElsewhere === false && (!own.isOver || kept?.node === address || outcome !== undefined)) {
        await node.whenKept(run); // the others can be asked about it from now on
        return own;
      }
      if (kept !== undefined && !node.has(run)) {
        const isDone = outcome !== undefined && !("error" in outcome) && kept.commits.length > 0;
        if (isDone || await hasBegun(kept.node, run)) {
          node.learn(run, kept);
          return follow(run, shows);
        }
      }
      if (outcome?.error !== undefined) throw outcome.error;
      if (performance.now() > until) {
        const why = await restate.waitsFor(run);
        throw new ServiceError(`no node takes run ${run}${why === undefined ? "" : `: ${why}`}`, {
          code: "limit",
        });
      }
      await systemClock.sleep(LOOK_MS);
    }
  }

  /** Another node may yet refuse a run that it has. */
  async function hasBegun(at: string | undefined, run: string): Promise<boolean> {
    if (at === undefined || at === address) return false;
    const signal = AbortSignal.timeout(BEAT_MS);
    const response = await fetch(`${at}/orrery/has/${run}`, { signal }).catch(() => undefined);
    await response?.body?.cancel();
    return response?.ok === true;
  }

  const nodes: RunNodes = {
    async open({ registry: runs, drain }, work) {
      registry = runs;
      perform = work;
      isEnding = () => drain.aborted;
      if (!isDeno29()) {
        notice(
          "each step takes some 40 ms more with a Deno before 2.9, as this one or the one of this binary is",
        );
      }
      await restate.register(settings.as ?? address);
    },
    hand,
    learn,
    knows: (run) => node.has(run) || node.known(run) > 0,
    forget: restate.forget,
    keepCopy: (run) => node.keepCopy(run, (writes) => restate.keep(run, writes)),
    async learnAll() {
      await Promise.all(node.learnRows(await restate.rows()).map(learn));
    },
    async learnSlots(scope) {
      await Promise.all(SCOPES.map(async (destination) => {
        const text = scopeText(scopeOf(destination, scope), (value) => secrets.maskJson(value));
        node.learnSlots(await restate.slots(text));
      }));
    },
  };
  return {
    journal: node.journal,
    serve: (service, own) => nodeService(service, nodes, own),
    learnSlots: nodes.learnSlots,
    close: () => server.close({ graceMs: 1_000 }),
  };
}

const SCOPES = ["session", "module", "global"] as const;

function lines(reader: ReturnType<HeldRun["read"]>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let next: ReturnType<typeof reader.next> | undefined;
  let beat: ReturnType<typeof setTimeout> | undefined;
  return new ReadableStream({
    async pull(controller) {
      next ??= reader.next({ maxBytes: 65_536 });
      const quiet = new Promise<"quiet">((resolve) => beat = setTimeout(resolve, BEAT_MS, "quiet"));
      const frames = await Promise.race([next, quiet]);
      clearTimeout(beat);
      if (frames === "quiet") return controller.enqueue(encoder.encode("\n"));
      if (frames === undefined) return controller.close();
      next = undefined;
      controller.enqueue(encoder.encode(frames.map((frame) => `${JSON.stringify(frame)}\n`).join("")));
    },
    cancel() {
      clearTimeout(beat);
      reader.leave();
    },
  });
}
