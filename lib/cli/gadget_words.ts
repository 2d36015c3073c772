import type { EntryGrant, GadgetSource, PermissionKind, Permissions } from "../core/core.ts";

const KINDS: readonly PermissionKind[] = ["read", "write", "net", "run", "env", "sys"];

/** What a gadget needs, in short: `read, net (example.com:443)`. */
export function permissionWords(permissions: Permissions): string {
  const words = KINDS.flatMap((kind) => {
    const asked = permissions[kind];
    return asked === undefined ? [] : [asked === true ? kind : `${kind} (${asked.join(", ")})`];
  });
  return words.length === 0 ? "nothing" : words.join(", ");
}

/**
 * Who has allowed a gadget, in short: `orrery.lock`, `not needed`, `asked first`; with what that lets it do, where it is not what the gadget
 * needs: `the project: run (git)`.
 */
export function grantWords({ state, from, changes, permissions }: EntryGrant, needs: Permissions): string {
  switch (state) {
    case "granted": {
      const given = permissions && permissionWords(permissions);
      const isAsAsked = given === undefined || given === permissionWords(needs);
      return isAsAsked ? from.join(", ") : `${from.join(", ")}: ${given}`;
    }
    case "not-needed":
      return "not needed";
    case "open":
      return changes.length === 0 ? "asked first" : "changed: asked again";
    default:
      return state satisfies never;
  }
}

/** Where a gadget comes from, in short: its file, its server, or `built in`. */
export function sourceWord(source: GadgetSource): string {
  switch (source.kind) {
    case "built-in":
      return "built in";
    case "project":
    case "file":
      return source.file;
    case "mcp":
      return `MCP server ${source.server} (${source.file})`;
    case "code":
      return "code";
    default:
      return source satisfies never;
  }
}
