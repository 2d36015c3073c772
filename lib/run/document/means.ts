import type { Narrowing } from "../../check/narrowing.ts";
import type { Files, Model, Shell } from "../../core/core.ts";
import type { DocumentFile } from "../../parse/document/document.ts";
import type { DocumentProblem } from "../../parse/document/tree.ts";
import type { DocumentLimits, MergeMode } from "../../parse/document/operation.ts";
import type { Budget } from "../budget.ts";
import type { CallLimits } from "../calls/graph.ts";
import type { DocumentCommand } from "./shell.ts";
import type { ToolSource } from "../turn/offered.ts";

/** What the operations of a document work with. */
export interface DocumentMeans {
  /** The project root: real and absolute. */
  readonly root: string;
  /** Bounded by what the user granted. */
  readonly files: Files;
  /** Whether a model's answer may be written there, besides what `files` says. */
  maySave(path: string): boolean | Promise<boolean>;
  readonly shell: Shell;
  /** Reads the scripts of `@shell`. */
  readonly script: DocumentCommand["shell"];
  readonly models: DocumentModels;
  readonly tools: ToolSource;
  /** What the command line says for every file. */
  readonly flags: { readonly model?: string; readonly mode?: MergeMode };
  /** What the configuration says where a file says nothing. */
  readonly defaults: { readonly temperature?: number; readonly limits: DocumentLimits };
  /** Models see the operations too (documents.md 7.3). */
  readonly showsOperations: boolean;
  readonly budget: Budget;
  /** Of the calls of tools. */
  readonly calls: Pick<CallLimits, "timeoutMs" | "resultBytes">;
  /** From 0 to 1, for the random part of waits. */
  readonly random: () => number;
  /** What is wrong with a document that another one runs, besides its own text, in the order of the lines. */
  check(file: DocumentFile, callers: readonly DocumentFile[]): Promise<readonly DocumentProblem[]>;
  /** What is done from now on may use no more than that, tools included. Default: nothing bounds it further. */
  narrow?(narrowing: Narrowing): void;
  /** What a provider did not answer stays unanswered when the run is resumed: somebody has gone on with that. Default false. */
  readonly keepsFailures?: boolean;
  /** Keeps a result document. Absent: nobody wants them. `depth` counts files inside each other from 1. */
  result?(document: {
    readonly path: string;
    readonly text: string;
    readonly depth: number;
    readonly operations: number;
  }): Promise<void>;
}

/** Names to models, by the rules of documents.md 7.6. */
export interface DocumentModels {
  /** @throws {ModelError} `config`: `unknown model "x"`, `no model is configured` */
  find(name: string | undefined): Model | Promise<Model>;
}

/** The limits of a file: its own word, else the configuration's. */
export function limitsOf(
  { settings }: DocumentFile,
  { defaults }: DocumentMeans,
): DocumentLimits {
  return { ...defaults.limits, ...settings.limits };
}
