/**
 * What a package could not do because of a permission that Deno itself lacks, and what to do; undefined for any other error. Packages look
 * into the environment when they are loaded, or used for the first time.
 */
export function notCapableText(error: unknown): string | undefined {
  if (!(error instanceof Error) || error.name !== "NotCapable") return undefined;
  const variable = /env access to "([^"]*)"/.exec(error.message)?.[1];
  if (variable === undefined) return `Deno itself was started with too little: ${error.message}`;
  return `Deno itself was started without --allow-env=${variable}: add --ignore-env, ` +
    "and every variable that it may not read counts as not set";
}
