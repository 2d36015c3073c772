// It is imported when the first document is read, and nowhere else: it costs 8 ms of start-up.

/** The package `yaml`, whose types cost nothing. */
export type YamlLibrary = typeof import("yaml");

/** Loads it. Where it is CommonJS, it may be a default export and nothing else, as in the bundle of the binary. */
export async function yamlLibrary(): Promise<YamlLibrary> {
  const module: YamlLibrary & { readonly default?: YamlLibrary } = await esModules() ??
    await import("yaml");
  return module.default ?? module;
}

/**
 * The build of ES modules that the package gives under every condition but Node's, which is the one that Deno goes by: 40 files of CommonJS,
 * and the loader for them, would take 50 ms. Undefined where the package is not a folder of files, or was not fetched yet.
 */
async function esModules(): Promise<YamlLibrary | undefined> {
  try {
    return await import(new URL("../browser/index.js", import.meta.resolve("yaml")).href);
  } catch {
    return undefined;
  }
}
