import { isInside } from "../../catalog/project_path.ts";
import { withoutByteOrderMark } from "../../core/file_text.ts";
import { resolve } from "node:path";
import { SourceError } from "../../core/source_error.ts";
import { FileError } from "../../core/world.ts";
import { hostFiles } from "../../host/files.ts";
import { realPath } from "../../host/paths.ts";
import type { Markers } from "../../parse/call_header.ts";
import { CallParser } from "../../parse/call_parser.ts";
import type { CallBlock } from "../../parse/call_parser.ts";
import { readAgentFile } from "../../parse/read_agent_file.ts";
import { readDocument } from "../../parse/document_file.ts";
import type { CallGraph } from "../../render/call_graph.ts";
import { shownPath } from "../../run/document_paths.ts";
import { readDocumentText } from "../../run/document_text.ts";
import { outlineOf } from "../document_outline.ts";
import { graphOfAgent } from "../graph_of_agent.ts";
import { graphOfCalls } from "../graph_of_calls.ts";
import { graphOfDocument } from "../graph_of_document.ts";
import type { ReadFile } from "../graph_of_files.ts";
import type { GraphJson, ProblemJson } from "./look.ts";
import { agentProblem, callProblem, documentProblem } from "./problem_data.ts";

/** The graph of a text of calls. @param options `file`: its name in problems */
export async function callsGraph(
  text: string,
  { file, markers }: { readonly file: string; readonly markers: Markers },
): Promise<GraphJson> {
  const { graph, problems } = graphOfCalls(callsIn(text, markers));
  return await drawn(graph, problems.map(({ line, text: message }) => callProblem(message, { file, line })));
}

/** The calls of a text, broken ones too. */
export function callsIn(text: string, markers: Markers): readonly CallBlock[] {
  const parser = new CallParser({ markers });
  return [...parser.push(withoutByteOrderMark(text)), ...parser.end()]
    .flatMap((event) => event.type === "call-end" ? [event.call] : []);
}

/** The graph of a document. @param file relative to the root @throws {FileError} */
export async function documentGraph(file: string, { root }: { readonly root: string }): Promise<GraphJson> {
  const text = await readDocumentText(hostFiles({ root }), file);
  const read = await readDocument(text, { path: file });
  const { graph } = await graphOfDocument(await outlineOf(read), {
    path: resolve(root, file),
    read: projectReader(root),
  });
  return await drawn(graph, read.problems.map((problem) => documentProblem(problem, file)));
}

/** The graph of an agent; empty for one that is broken. @param file relative to the root @throws {FileError} */
export async function agentGraph(file: string, { root }: { readonly root: string }): Promise<GraphJson> {
  const { agent, problems } = await readAgentFile(await hostFiles({ root }).readText(file), { file });
  const graph = agent === undefined ? { nodes: [], edges: [] } : graphOfAgent(agent);
  return await drawn(graph, problems.map((problem) => agentProblem(problem, file)));
}

/** Reads what a document names. Files outside the project are named, and not looked into. */
export function projectReader(root: string): ReadFile {
  const files = hostFiles({ root });
  return async (path) => {
    const shown = shownPath(path, root);
    if (!isInside(realPath(path), root)) return { shown };
    try {
      const text = await readDocumentText(files, path);
      return { shown, file: await readDocument(text, { path: shown, hasOperations: path.endsWith(".md") }) };
    } catch (thrown) {
      if (!(thrown instanceof FileError)) throw thrown;
      return { shown };
    }
  };
}

async function drawn(graph: CallGraph, problems: readonly ProblemJson[]): Promise<GraphJson> {
  const { graphMermaid } = await import("../../render/graph_mermaid.ts");
  const { graphSvg } = await import("../../render/graph_picture.ts");
  const mermaid = graphMermaid(graph);
  try {
    return { mermaid, svg: await graphSvg(graph), problems };
  } catch (error) {
    if (!(error instanceof SourceError)) throw error;
    return { mermaid, svg: "", problems }; // too large to be drawn
  }
}
