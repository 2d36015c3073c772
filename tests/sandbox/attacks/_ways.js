const NOTHING = Symbol("nothing");

/** Tries each way, and tells which of them gave anything; what throws, gives nothing or is not over in 300 ms gave nothing. */
export async function ways(tries) {
  const got = [];
  for (const [name, attempt] of Object.entries(tries)) {
    try {
      const late = new Promise((resolve) => setTimeout(() => resolve(NOTHING), 300));
      const value = await Promise.race([attempt(), late]);
      if (value !== undefined && value !== null && value !== NOTHING && value !== false && value !== "") {
        got.push(`${name}: ${String(value).slice(0, 200)}`);
      }
    } catch { /* refused */ }
  }
  return { tried: Object.keys(tries).length, got };
}

export const text = (bytes) => new TextDecoder().decode(bytes);
