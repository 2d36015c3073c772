/** What is told to the console of this process goes to stderr from here on, whoever tells it. */
export function logsToStderr(): void {
  const { error } = console;
  Object.assign(console, { log: error, info: error, debug: error, dir: error, dirxml: error, table: error });
}
