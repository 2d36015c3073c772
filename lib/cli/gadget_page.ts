import type { CatalogEntry, EntryGrant } from "../core/catalog.ts";
import type { AnyGadget } from "../core/gadget.ts";
import type { Permissions } from "../core/world.ts";
import { writeCalls } from "../parse/write_calls.ts";
import { duration } from "../render/shown_text.ts";
import { table } from "../render/table.ts";
import { containedBy } from "../run/run_gadget.ts";
import { describeSchema } from "../schema/describe.ts";
import type { ParameterInfo } from "../schema/describe.ts";
import { grantWords, permissionWords, sourceWord } from "./gadget_words.ts";

/** Everything about a gadget, for people. */
export function gadgetPage(entry: CatalogEntry, gadget: AnyGadget): string {
  const parameters = gadget.input === undefined ? [] : describeSchema(gadget.input);
  const sections = [
    `${gadget.name}  (${sourceWord(entry.source)})`,
    gadget.description ?? "It has no description.",
    `Takes:\n${indented(parameters.length === 0 ? takesWhat(gadget) : parameterTable(parameters))}`,
    `Needs: ${permissionWords(gadget.permissions ?? {})}`,
    ...(entry.grant === undefined ? [] : [grantText(entry.grant(), gadget.permissions)]),
    `Limits: ${limitWords(gadget)}`,
    ...(entry.said === undefined
      ? []
      : [`Its module says while it is loaded:\n${indented(entry.said.trimEnd().split("\n"))}`]),
    ...examples(gadget, parameters),
  ];
  return `${sections.join("\n\n")}\n`;
}

function grantText(grant: EntryGrant, needs: Permissions = {}): string {
  return `Grant: ${grantWords(grant, needs)}${grant.changes.map((line) => `\n  ${line}`).join("")}`;
}

function takesWhat(gadget: AnyGadget): string[] {
  return [
    gadget.input === undefined ? "nothing that is checked" : "what its schema says, which has no description",
  ];
}

function parameterTable(parameters: readonly ParameterInfo[]): string[] {
  return table(parameters.map(({ pointer, type, required, description, default: value }) => {
    const text = [description, value === undefined ? undefined : `Default: ${JSON.stringify(value)}.`];
    return [pointer, type, required ? "required" : "", text.filter((part) => part !== undefined).join(" ")];
  }));
}

function indented(lines: readonly string[]): string {
  return lines.map((line) => `  ${line}`).join("\n");
}

function limitWords(gadget: AnyGadget): string {
  const { timeoutMs, maxConcurrent, exclusive } = gadget;
  const words = [
    containedBy(gadget) !== undefined
      ? "each call as long as what runs in it"
      : `each call ${timeoutMs === undefined ? "the timeout of the run" : `at most ${duration(timeoutMs)}`}`,
    ...(maxConcurrent === undefined ? [] : [`at most ${maxConcurrent} at once`]),
    ...(exclusive === true ? ["runs alone"] : []),
  ];
  return words.join(", ");
}

function examples(gadget: AnyGadget, parameters: readonly ParameterInfo[]): string[] {
  if (gadget.examples === undefined || gadget.examples.length === 0) {
    const needed = parameters.filter(({ required, pointer }) => required && !pointer.includes("/"));
    const input = Object.fromEntries(needed.map(({ pointer, type }) => [pointer, `<${type}>`]));
    return [`A call:\n${writeCalls([{ gadgetName: gadget.name, parameters: input }])}`.trimEnd()];
  }
  return gadget.examples.map(({ input, comment }) => {
    const block = writeCalls([{ gadgetName: gadget.name, parameters: input }]);
    return `A call${comment === undefined ? "" : `, ${comment}`}:\n${block}`.trimEnd();
  });
}
