// Some routes of a service on a socket of this machine, for clients that nobody here wrote.

import { openServer } from "../lib/server/server.ts";
import type { Route } from "../lib/server/route.ts";
import type { Service } from "../lib/service/service.ts";

/** The token that its clients need. */
export const TOKEN = "a-token-of-sixteen-letters";

/** A server that is listening. Disposing of it ends all of its answers. */
export interface SurfaceServer extends AsyncDisposable {
  /** `http://127.0.0.1:PORT` */
  readonly origin: string;
  /** What it told the person at the terminal. */
  readonly told: readonly string[];
}

/** Serves the routes; the service stays as it is. */
export function surfaceServer(service: Service, routes: readonly Route[]): SurfaceServer {
  const told: string[] = [];
  const running = new Proxy(service, {
    get(target, name) {
      if (name === "stop") return () => Promise.resolve(); // another server may come behind this one
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  const { origin, [Symbol.asyncDispose]: dispose } = openServer(running, {
    port: 0,
    token: TOKEN,
    routes,
    tell: (text) => void told.push(text),
  });
  return { origin, told, [Symbol.asyncDispose]: dispose };
}
