// The modules that are written in place of those of Node that reach out of a gadget, and of `orrery`. What they give is made inside of the
// process (lib/sandbox/inside/facade/facade.ts); a test holds the names here and there together. Of `node:fs` all names are there, so that a
// library that imports one loads, and says which one a gadget has not when it calls it.

/** The names that each facade module exports, by specifier. */
export const FACADE_NAMES = names();

/** The text of each facade module, by specifier. */
export const facadeModules: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(FACADE_NAMES).map(([specifier, exported]) => [specifier, moduleText(specifier, exported)]),
);

function moduleText(specifier: string, names: readonly string[]): string {
  return [
    `const facade = globalThis[Symbol.for("orrery.gadget")].facade[${JSON.stringify(specifier)}];`,
    ...(specifier === "orrery" ? [] : ["export default facade;"]),
    `export const { ${names.join(", ")} } = facade;`,
    "",
  ].join("\n");
}

function names() {
  return {
    "node:fs": words(`
      Dirent Stats access accessSync appendFile appendFileSync chmod chmodSync chown chownSync close
      closeSync constants copyFile copyFileSync cp cpSync createReadStream createWriteStream exists
      existsSync fstat fstatSync fsync fsyncSync ftruncate ftruncateSync futimes futimesSync link
      linkSync lstat lstatSync lutimes lutimesSync mkdir mkdirSync mkdtemp mkdtempSync open openAsBlob
      openSync opendir opendirSync promises read readFile readFileSync readSync readdir readdirSync
      readlink readlinkSync readv readvSync realpath realpathSync rename renameSync rm rmSync rmdir
      rmdirSync stat statSync statfs statfsSync symlink symlinkSync truncate truncateSync unlink
      unlinkSync unwatchFile utimes utimesSync watch watchFile write writeFile writeFileSync writeSync
      writev writevSync
    `),
    "node:fs/promises": words(`
      access appendFile chmod chown constants copyFile cp link lstat lutimes mkdir mkdtemp open opendir
      readFile readdir readlink realpath rename rm rmdir stat statfs symlink truncate unlink utimes watch
      writeFile
    `),
    "node:os": words(`
      EOL arch availableParallelism constants cpus devNull endianness freemem homedir hostname loadavg
      machine networkInterfaces platform release tmpdir totalmem type uptime userInfo version
    `),
    "node:process": words(`
      abort addListener arch argv argv0 chdir config cwd emit emitWarning env execArgv execPath exit
      exitCode features getBuiltinModule getgid getuid hrtime kill listenerCount listeners memoryUsage
      nextTick off on once pid platform ppid reallyExit release removeAllListeners removeListener
      setMaxListeners stderr stdin stdout title umask uptime version versions
    `),
    orrery: words(`
      defineGadget
    `),
  };
}

function words(text: string): readonly string[] {
  return text.trim().split(/\s+/);
}

/** Modules of Node that only compute: they are imported as they are. */
export const PURE_NODE_NAMES: ReadonlySet<string> = new Set([
  "node:assert",
  "node:assert/strict",
  "node:async_hooks",
  "node:buffer",
  "node:crypto",
  "node:events",
  "node:path",
  "node:path/posix",
  "node:path/win32",
  "node:perf_hooks",
  "node:querystring",
  "node:stream",
  "node:stream/promises",
  "node:string_decoder",
  "node:timers",
  "node:timers/promises",
  "node:url",
  "node:util",
  "node:util/types",
  "node:zlib",
]);

/** The file that a facade's text has to be written to, beside the prepared modules: `node:fs/promises` -> `_node_fs_promises.js`. */
export function facadeFile(specifier: string): string {
  return `_${specifier.replaceAll(/[^A-Za-z0-9]/g, "_")}.js`;
}
