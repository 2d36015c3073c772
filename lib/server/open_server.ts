// A service behind a socket.

import { systemClock } from "../core/clock.ts";
import { serveHttp } from "../host/serve_http.ts";
import type { Service } from "../service/service.ts";
import { createApp } from "./app.ts";
import { createHosts } from "./guard.ts";
import type { Route } from "./route.ts";
import { ROUTES } from "./route_table.ts";
import type { ServerSettings } from "./server_settings.ts";
import { Sessions } from "./session.ts";
import { TextStreams } from "./text_streams.ts";

/** How a service is served. */
export interface OpenServerOptions {
  /** Default 127.0.0.1. */
  readonly host?: string;
  /** 0: any that is free. */
  readonly port: number;
  /** Further names that a Host may have. */
  readonly names?: readonly string[];
  /** Absent: nobody needs one. */
  readonly token?: string;
  readonly tell: (text: string) => void;
  /** Default: all of the table. */
  readonly routes?: readonly Route[];
  readonly streams?: TextStreams;
}

/** A server that listens. */
export interface OpenServer extends AsyncDisposable {
  /** `http://127.0.0.1:7337` */
  readonly origin: string;
  readonly settings: ServerSettings;
  /** A link to the page that works once; the page itself where nobody needs a token. */
  link(): string;
  /** Nothing new begins; what is under way gets so long for the step it is in; then everything that is read ends. The service stays open. */
  stop(options: { readonly graceMs: number }): Promise<void>;
}

/** How long answers that are under way may take when all runs have ended, ms. */
const LAST_ANSWERS_MS = 2_000;

/** Serves it. @throws {Error} when it cannot listen there */
export function openServer(service: Service, options: OpenServerOptions): OpenServer {
  const { host = "127.0.0.1", names, token, tell, routes = ROUTES, streams = new TextStreams() } = options;
  const http = serveHttp({ host, port: options.port, fetch: (request) => app.fetch(request) });
  const { port } = http;
  const stopping = new AbortController();
  const lastWorks = new Set<() => void | Promise<void>>();
  const settings: ServerSettings = {
    origin: `http://${addressOf(host)}:${port}`,
    token,
    cookie: `orrery_${port}`,
    sessions: new Sessions(systemClock, { key: token }),
    streams,
    clock: systemClock,
    stopping: stopping.signal,
    atStop: (work) => void lastWorks.add(work),
    tell,
  };
  // Nothing is accepted before this turn of the event loop is over.
  const app = createApp({
    service,
    settings,
    routes,
    isHost: createHosts({ host, port, names }),
  });
  let stopped: Promise<void> | undefined;
  const stop = async ({ graceMs }: { readonly graceMs: number }): Promise<void> => {
    await service.stop({ graceMs });
    stopping.abort();
    streams.close();
    await Promise.allSettled([...lastWorks].map(async (work) => await work()));
    await http.close({ graceMs: LAST_ANSWERS_MS });
  };
  const server: OpenServer = {
    origin: settings.origin,
    settings,
    link: () => token === undefined ? settings.origin : `${settings.origin}/link/${settings.sessions.link()}`,
    stop: (how) => stopped ??= stop(how),
    [Symbol.asyncDispose]: () => server.stop({ graceMs: 0 }),
  };
  return server;
}

/** As a URL has it: somewhere that a browser can go to. */
function addressOf(host: string): string {
  if (host === "0.0.0.0") return "127.0.0.1";
  if (host === "::") return "[::1]";
  return host.includes(":") ? `[${host}]` : host;
}
