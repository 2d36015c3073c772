// It costs 25 ms of start-up: it is imported when the first document is read, and nowhere else.

/** The package `yaml`, whose types cost nothing. */
export type YamlLibrary = typeof import("yaml");

/** Loads it. It is CommonJS: in a bundle, such as the binary, it is a default export and nothing else. */
export async function yamlLibrary(): Promise<YamlLibrary> {
  const module: YamlLibrary & { readonly default?: YamlLibrary } = await import("yaml");
  return module.default ?? module;
}
