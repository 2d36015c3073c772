import { PermissionRefused, type Policy } from "../../core/core.ts";
import { denoGrants } from "../process.ts";

/** Who is asked before a connection. */
export interface HostModelFetchOptions {
  /** Called with the host and port before every request. */
  readonly check: Policy["check"];
}

/**
 * The `fetch` of the platform for model providers: it streams, uses HTTP/2 and the proxies of the machine, and asks the policy
 * first. It follows no redirect: the request holds a key, which is for the host that was named.
 *
 * @throws {PermissionRefused} by the check, or when Deno itself may not connect
 */
export function hostModelFetch({ check }: HostModelFetchOptions): typeof fetch {
  return async (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input);
    const value = `${url.hostname}:${url.port || (url.protocol === "https:" ? "443" : "80")}`;
    const request = { kind: "net", value } as const;
    check(request);
    if (!denoGrants({ name: "net", host: value })) {
      const flag = `--allow-net=${value}`;
      throw new PermissionRefused(`Deno itself was started without ${flag}`, { request, flag });
    }
    const response = await fetch(input, { ...init, redirect: "manual" });
    if (response.status < 300 || response.status > 399) return response;
    await response.body?.cancel();
    const to = JSON.stringify(response.headers.get("location") ?? "");
    throw new Error(
      `it redirects to ${to}, which is not followed with a key; if that is right, make it the baseURL`,
    );
  };
}
