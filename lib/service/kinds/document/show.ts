import type { LookedFile, Shown } from "../kind.ts";
import { isRecord, type Json, typedPath } from "../../../core/core.ts";
import { type DocumentFile, readDocument } from "../../../parse/document/document.ts";
import { printable, printableLine } from "../../../render/shown_text.ts";
import { shown } from "../../../schema/issue.ts";
import {
  documentJson,
  type DocumentOutline,
  type DocumentUses,
  outlineOf,
  type UsedThing,
  usesOf,
} from "./outline.ts";
import { listed, pageOf } from "../../../render/page_text.ts";

/** What it takes, needs, uses and consists of. */
export async function show({ file: path, text, project }: LookedFile): Promise<Shown> {
  const file = await readDocument(text, { path });
  const outline = await outlineOf(file);
  const uses = usesOf(file, outline, (path) => typedPath(path, project));
  return {
    json: documentJson(file, outline, uses),
    text: printable(documentPage(file, outline, uses)),
    problems: file.problems,
  };
}

/** Everything about a document, for people. */
function documentPage(file: DocumentFile, outline: DocumentOutline, uses: DocumentUses): string {
  const { path, settings: { title, description, inputs, permissions } } = file;
  const facts = [
    `Needs: ${words(uses.needs, "nothing beyond what every run may do")}`,
    ...declared(permissions),
    ...line(
      "Models",
      uses.models.map(({ name, lines }) => ({ name: name || "that of the configuration", lines })),
    ),
    ...line("Tools", uses.tools),
    ...line("Imports", uses.imports),
    ...line("Runs", uses.runs),
  ];
  return pageOf([
    title === undefined ? path : `${title}  (${path})`,
    description ?? "",
    listed(
      "Inputs",
      inputs.map((input) => [
        input.name,
        input.default === undefined ? "has to be given" : `default ${shown(input.default)}`,
        input.description ?? "",
      ]),
    ),
    facts.map(printableLine).join("\n"),
    listed(
      "Operations",
      outline.operations.map(({ node, parameters }) => [
        String(node.line),
        `@${node.name}`,
        Object.entries(parameters).map(([key, value]) => `${key}: ${short(value)}`).join(", "),
      ]),
    ),
    listed(
      "Blocks",
      outline.blocks.map(({ id, title, level, line, depth }) => [
        `${"  ".repeat(depth)}${id}`,
        `${"#".repeat(level)} ${title}`,
        `line ${line}`,
      ]),
    ),
  ]);
}

function declared(permissions: DocumentFile["settings"]["permissions"]): readonly string[] {
  const said = Object.entries(permissions).filter(([, value]) => value !== undefined)
    .map(([kind, value]) => `${kind} ${Array.isArray(value) ? value.join(", ") || "nothing" : yesNo(value)}`);
  return said.length === 0 ? [] : [`Permissions of its front matter: ${said.join("; ")}`];
}

function yesNo(value: unknown): string {
  return value === true ? "yes" : "no";
}

function line(what: string, things: readonly UsedThing[]): readonly string[] {
  return things.length === 0 ? [] : [`${what}: ${words(things, "")}`];
}

const MOST_LINES = 5;

function words(things: readonly UsedThing[], none: string): string {
  if (things.length === 0) return none;
  return things.map(({ name, lines }) => {
    const more = lines.length > MOST_LINES ? ", \u2026" : "";
    return `${name} (line${lines.length === 1 ? "" : "s"} ${lines.slice(0, MOST_LINES).join(", ")}${more})`;
  }).join(", ");
}

/** A value on one line. */
function short(value: Json): string {
  if (typeof value === "string") return shown(value.trim());
  if (Array.isArray(value)) {
    return value.map((each) => typeof each === "string" ? each : short(each)).join(", ");
  }
  if (isRecord(value)) return shown(JSON.stringify(value)).replaceAll('\\"', '"').slice(1, -1);
  return String(value);
}
