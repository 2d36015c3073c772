/** Opens a TCP connection and closes it again, nothing being sent. @throws when nothing answers within 300 ms, or Deno may not connect. */
export async function tcpConnect(
  target: { readonly hostname: string; readonly port: number },
): Promise<void> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error("no answer")), 300);
  const connecting = Deno.connect(target);
  try {
    (await Promise.race([connecting, late.promise])).close();
  } catch (error) {
    connecting.then((connection) => connection.close(), () => undefined);
    throw error;
  } finally {
    clearTimeout(timer);
  }
}
