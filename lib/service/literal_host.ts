const PORTS: Readonly<Record<string, string>> = { "http:": "80", "https:": "443" };

/** `host:port` of a URL; undefined where slots or variables decide it. */
export function literalHost(url: string): string | undefined {
  const [start, authority = ""] = /^https?:\/\/([^/?#\\]+)/i.exec(url) ?? [];
  if (start === undefined || /\{\{|\$\{/.test(authority) || !URL.canParse(start)) return undefined;
  const { protocol, hostname, port } = new URL(start);
  return `${hostname}:${port === "" ? PORTS[protocol] ?? "" : port}`;
}
