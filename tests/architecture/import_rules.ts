import {
  BENEATH,
  COMPUTED_IMPORT_PLACES,
  EFFECT_PLACES,
  EXAMPLE_PACKAGES,
  IMPORT_TABLE,
  KIND_PART_PLACES,
  NODE_MODULE_PLACES,
  ON_SERVICE,
  PURE_NODE_MODULES,
  ROOM_GLOBALS,
  TAKEN_FROM_BENEATH,
} from "./import_table.ts";
import type { ImportFact } from "./module_facts.ts";
import { product, type Project, roomOf, type Rule, targetOf } from "./project.ts";

/** Imports go the way the table says. */
const importDirection: Rule = ({ modules }) =>
  eachImport(modules, ({ path, room, target, line }) => {
    if (room === undefined || target === undefined) return [];
    const allowed = IMPORT_TABLE[room];
    if (allowed === undefined) return [`${path}: the room "${room}" is not in the import table`];
    const to = roomOf(target);
    if (to === undefined) {
      return /^(tests|examples)\//.test(target)
        ? [`${path}:${line}: imports ${target}: product code may not import tests or examples`]
        : [];
    }
    if (to === room || allowed === "all" || allowed.includes(to)) return [];
    return [
      `${path}:${line}: ${room} may not import ${to} (${target}); it may import ${
        allowed.join(", ") || "nothing"
      }`,
    ];
  });

/** A relative import names a file of the project, and product code never comes in by the public name. */
const importTargets: Rule = ({ modules, tree }) =>
  eachImport(modules, ({ path, room, specifier, target, line }) => {
    if (specifier === "orrery" && room !== undefined) {
      return [`${path}:${line}: imports "orrery": product code imports the file it means`];
    }
    if (/^(\/|file:|https?:|data:|blob:)/.test(specifier)) {
      return [`${path}:${line}: imports "${specifier}": expected a relative path or a name of deno.json`];
    }
    if (target === undefined || tree.has(target)) return [];
    return [`${path}:${line}: imports "${specifier}", which is no file of the project`];
  });

/** Packages come from the import map, each into one room; those of the tests into none. */
const packagesInOneRoom: Rule = ({ modules, imports, testImports }) => {
  const problems = Object.entries(imports).filter(([name, version]) =>
    name !== "orrery" && testImports[name] !== version
  ).map(([name, version]) => `tests/deno_tests.json: ${name} is not ${version}, as in deno.json`);
  const rooms = new Map<string, { room: string; path: string }>();
  eachImport(modules, ({ path, room, specifier, line }) => {
    if (
      specifier.startsWith(".") || specifier.startsWith("node:") || specifier === "orrery" || specifier === ""
    ) return [];
    const name = packageName(specifier);
    const isTested = /^(tests|\.ci)\//.test(path);
    if (!Object.hasOwn(isTested ? testImports : imports, name)) {
      const config = isTested ? "tests/deno_tests.json" : "deno.json";
      problems.push(`${path}:${line}: imports "${specifier}", which ${config} does not list`);
    }
    if (room === undefined) return [];
    if (EXAMPLE_PACKAGES.has(name)) {
      problems.push(`${path}:${line}: imports ${name}, which is for examples only`);
    }
    const first = rooms.get(name);
    if (first === undefined) rooms.set(name, { room, path });
    else if (first.room !== room) {
      problems.push(
        `${path}:${line}: ${name} is imported in ${room} and in ${first.room} (${first.path}); one room only`,
      );
    }
    return [];
  });
  return problems;
};

/** Tests that stand inside: what they or their helpers import of lib or gadgets has no door. */
const MOST_INNER_TESTS = 50;

/** Nearly all tests stand where a user stands: at the command line, HTTP or mod.ts (tests/README.md). */
const testsAtDoors: Rule = ({ modules }) => {
  const inner = [...modules.keys()].filter((path) =>
    path.endsWith("_test.ts") && isInner(path, modules, new Set())
  );
  if (inner.length <= MOST_INNER_TESTS) return [];
  const names = inner.join(", ");
  return [
    `tests: ${inner.length} test files import what is no door, at most ${MOST_INNER_TESTS} may: ${names}`,
  ];
};

function isInner(path: string, modules: Project["modules"], seen: Set<string>): boolean {
  if (seen.has(path)) return false;
  seen.add(path);
  return (modules.get(path)?.imports ?? []).some(({ specifier }) => {
    const target = targetOf(path, specifier);
    if (target === undefined) return false;
    if (/^(lib|gadgets)\//.test(target)) return true;
    return target.startsWith("tests/") && isInner(target, modules, seen);
  });
}

/** Only lib/host touches the world, and what stands in for it inside the process of a gadget; a type of Node's touches nothing. */
const effectsInHost: Rule = ({ modules }) =>
  product(modules).flatMap(([path, facts]) => {
    const room = roomOf(path) ?? "";
    if (EFFECT_PLACES.some((place) => path.startsWith(place))) return [];
    const words = facts.effects.filter(({ what }) => !(ROOM_GLOBALS[room] ?? []).includes(what)).map((
      { what, line },
    ) => `${path}:${line}: says ${what}: only ${EFFECT_PLACES.join(" and ")} may`);
    const nodes = facts.imports.filter(({ kind, specifier }) =>
      specifier.startsWith("node:") && kind !== "type" && !mayImportNode(path, specifier)
    )
      .map(({ specifier, line }) =>
        `${path}:${line}: imports ${specifier}: only ${EFFECT_PLACES.join(" and ")} may`
      );
    const computed = facts.imports.filter(({ kind }) =>
      kind === "computed" && !COMPUTED_IMPORT_PLACES.some((place) => path.startsWith(place))
    )
      .map(({ line }) =>
        `${path}:${line}: import() of a computed name: only ${COMPUTED_IMPORT_PLACES.join(" and ")} may`
      );
    return [...words, ...nodes, ...computed];
  });

function mayImportNode(path: string, specifier: string): boolean {
  if (PURE_NODE_MODULES.has(specifier)) return true;
  if (!Object.hasOwn(NODE_MODULE_PLACES, specifier)) return false;
  return (NODE_MODULE_PLACES[specifier] ?? []).some((place) => path.startsWith(place));
}

/** Where a server is made, and where it listens: what answers anywhere else would have no guard in front of it. */
const DOORS: Readonly<Record<string, string>> = {
  "new Hono": "lib/server/server.ts",
  "Deno.serve": "lib/host/http/serve.ts",
  // Where engines enter and end steps: nothing is done to the world that no journal knows of, and nothing twice.
  beginStep: "lib/run/effect.ts",
  endStep: "lib/run/effect.ts",
  // Where steps come to a journal; one that stands around another hands them on.
  "journal.begin": "lib/run/run.ts",
  "journal.finish": "lib/run/run.ts",
};
const AROUND_JOURNALS = "lib/run/replay/";

/**
 * Nothing answers over HTTP but the one app, at the one socket; no other module has the router at all, under whatever name. Nothing is a
 * step but by the one door.
 */
const oneDoor: Rule = ({ modules }) =>
  product(modules).flatMap(([path, facts]) => [
    ...facts.doors.filter(({ what }) =>
      DOORS[what] !== path && !(what.startsWith("journal.") && path.startsWith(AROUND_JOURNALS))
    )
      .map(({ what, line }) => `${path}:${line}: says ${what}: only ${DOORS[what]} may`),
    ...facts.imports.filter(({ kind, specifier }) =>
      path !== DOORS["new Hono"] && kind !== "type" &&
      /^hono(?!\/(?:jsx|html)(?:\/|$))(?:\/|$)/.test(specifier)
    )
      .map(({ specifier, line }) => `${path}:${line}: imports ${specifier}: only ${DOORS["new Hono"]} may`),
  ]);

/** A project is opened by the service alone: the command line, the server and programs stand on it. */
const oneInnerDoor: Rule = ({ modules }) =>
  eachImport(modules, ({ path, line, kind, target, room }) => {
    const isBeneath = BENEATH.has(roomOf(target ?? "") ?? "");
    if (kind === "type" || !ON_SERVICE.has(room ?? "") || !isBeneath) return [];
    if (target === undefined || (TAKEN_FROM_BENEATH[path] ?? []).includes(target)) return [];
    return [`${path}:${line}: takes a value of ${target}: what is beneath lib/service/ comes through it`];
  });

const CORE = "lib/core/";
const CORE_DOOR = "lib/core/core.ts";

/** The words come through one door; single files are for what loads little: the start, the page, the process of a gadget. */
const coreByItsDoor: Rule = ({ modules }) => {
  const light = new Set<string>();
  const visit = (path: string): void => {
    if (light.has(path) || path === CORE_DOOR) return;
    light.add(path);
    for (const { kind, specifier } of modules.get(path)?.imports ?? []) {
      const target = targetOf(path, specifier);
      if (target !== undefined && (kind === "static" || path !== "main.ts")) visit(target);
    }
  };
  const isLight = (path: string) => /^lib\/(browser|sandbox\/inside)\//.test(path);
  ["main.ts", ...[...modules.keys()].filter(isLight)].forEach(visit);
  return eachImport(modules, ({ path, line, specifier, target, room, kind }) => {
    const isInner = target?.startsWith(CORE) && target !== CORE_DOOR;
    const isFree = room === undefined || room === "core" || room === "mod.ts" || light.has(path);
    return isInner && !isFree ? [`${path}:${line}: imports ${specifier} (${kind}): import ${CORE_DOOR}`] : [];
  });
};

/** `orrery --version` loads no package: nothing that main.ts imports statically does. */
const lightStart: Rule = ({ modules }) => {
  const problems: string[] = [];
  const seen = new Set<string>();
  const visit = (path: string): void => {
    if (seen.has(path)) return;
    seen.add(path);
    for (const fact of modules.get(path)?.imports ?? []) {
      if (fact.kind !== "static") continue;
      const target = targetOf(path, fact.specifier);
      if (target !== undefined) visit(target);
      else if (!PURE_NODE_MODULES.has(fact.specifier)) {
        problems.push(
          `${path}:${fact.line}: ${fact.specifier} is loaded at every start; import it with import() where it is used`,
        );
      }
    }
  };
  visit("main.ts");
  return problems;
};

/** A kind is reached by its row, which loads its parts; the rows load nothing but each other and what a wrong name is told with. */
const kindsByTheirRows: Rule = ({ modules }) =>
  eachImport(modules, ({ path, line, kind, target, room }) => {
    const [, name, part] = /^lib\/service\/kinds\/(\w+)\/(\w+)\.ts$/.exec(target ?? "") ?? [];
    const [, own, row] = /^lib\/service\/kinds\/(\w+)\/(\w+)\.ts$/.exec(path) ?? [];
    const isPart = part !== undefined && part !== name;
    if (isPart && room !== undefined && !KIND_PART_PLACES.some((place) => path.startsWith(place))) {
      return [
        `${path}:${line}: imports ${target}: a kind is reached by its row (lib/service/kinds/kinds.ts)`,
      ];
    }
    const isRow = row !== undefined && row === own;
    const isLight = kind !== "static" || part !== undefined && !isPart;
    return isRow && !isLight
      ? [`${path}:${line}: imports ${target}: a row is light; load what it needs with import()`]
      : [];
  });

interface ImportPlace extends ImportFact {
  readonly path: string;
  readonly room: string | undefined;
  /** The file of the project that it names, when it is relative. */
  readonly target: string | undefined;
}

function eachImport(
  modules: Project["modules"],
  look: (place: ImportPlace) => readonly string[],
): readonly string[] {
  return [...modules].flatMap(([path, facts]) =>
    facts.imports.flatMap((fact) =>
      look({ ...fact, path, room: roomOf(path), target: targetOf(path, fact.specifier) })
    )
  );
}

const packageName = (specifier: string): string =>
  specifier.split("/").slice(0, specifier.startsWith("@") ? 2 : 1).join("/");

/** The rules about what a module may import and touch. */
export const IMPORT_RULES: Readonly<Record<string, Rule>> = {
  importDirection,
  importTargets,
  packagesInOneRoom,
  effectsInHost,
  oneDoor,
  oneInnerDoor,
  lightStart,
  coreByItsDoor,
  testsAtDoors,
  kindsByTheirRows,
};
