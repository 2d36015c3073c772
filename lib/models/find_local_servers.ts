/** Opens a TCP connection and closes it again; rejects when nothing answers. */
export type Connect = (target: { readonly hostname: string; readonly port: number }) => Promise<void>;

/** A model server that answers on this machine. */
export interface LocalServer {
  readonly port: number;
  /** What usually listens there. */
  readonly name: string;
  /** To be written as `baseURL`. */
  readonly baseURL: string;
}

const PORTS: readonly (readonly [port: number, name: string])[] = [
  [11434, "Ollama"],
  [1234, "LM Studio"],
  [8080, "llama.cpp"],
];

/** Which of the usual local model servers listen on this machine. Nothing is sent: a connection is opened and closed. */
export async function findLocalServers(
  options: { readonly connect: Connect },
): Promise<readonly LocalServer[]> {
  const found = await Promise.all(PORTS.map(async ([port, name]) => {
    try {
      await options.connect({ hostname: "127.0.0.1", port });
      return [{ port, name, baseURL: `http://127.0.0.1:${port}/v1` }];
    } catch {
      return [];
    }
  }));
  return found.flat();
}
