/**
 * Orrery: LLM work kept in plain files. This module is the public door; everything else may change.
 *
 * @module
 */

export { CallParser } from "./lib/parse/call_parser.ts";
export type { CallBlock, CallEvent, CallParserOptions } from "./lib/parse/call_parser.ts";
export { parseCalls } from "./lib/parse/calls.ts";
export { writeCalls } from "./lib/parse/write_calls.ts";
export type { WritableCall } from "./lib/parse/write_calls.ts";
export type { Markers } from "./lib/parse/markers.ts";

export { schedule } from "./lib/schedule/schedule.ts";
export type { NodeContext, NodeOutcome, ScheduleNode, ScheduleOptions } from "./lib/schedule/scheduler.ts";
export type { Group } from "./lib/schedule/ready_queue.ts";

export { defineGadget } from "./lib/schema/define_gadget.ts";
export type {
  AnyGadget,
  Gadget,
  GadgetCall,
  GadgetContext,
  JsonSchema,
  Schema,
  StandardIssue,
  StandardResult,
  StandardSchema,
} from "./lib/core/gadget.ts";
export type { GadgetDefinition } from "./lib/schema/define_gadget.ts";
export type { InputOf } from "./lib/schema/input_type.ts";
export { createCatalog } from "./lib/catalog/create_catalog.ts";
export { loadCatalog } from "./lib/project/load_catalog.ts";
export type { LoadCatalogOptions } from "./lib/project/load_catalog.ts";
export type { Catalog, CatalogEntry, GadgetSource } from "./lib/core/catalog.ts";

export { runCalls } from "./lib/run/calls.ts";
export type { RunCallsOptions } from "./lib/run/calls.ts";
export type { CallErrorCode, RunEvent, RunEventBody, RunKind, RunStatus } from "./lib/core/event.ts";
export { ask, chat } from "./lib/run/dialog.ts";
export type { DialogOptions, DialogSource } from "./lib/run/dialog.ts";
export { schemaContract } from "./lib/run/output_contract.ts";
export type { ContractResult, OutputContract } from "./lib/run/output_contract.ts";
export type { Budget } from "./lib/run/budget.ts";
export type { TurnPolicy } from "./lib/run/turn_policy.ts";

export { fakeModel } from "./lib/models/fake_model.ts";
export type { FakeModel, FakeReply } from "./lib/models/fake_model.ts";
export { ModelError } from "./lib/core/model.ts";
export type {
  FinishReason,
  Model,
  ModelErrorCode,
  ModelPart,
  ModelRequest,
  ToolSpec,
  Usage,
} from "./lib/core/model.ts";
export type { ContentPart, Message, Reasoning, ToolCall } from "./lib/core/message.ts";

export { memoryJournal } from "./lib/journal/memory_journal.ts";
export type { JournalOptions } from "./lib/journal/journal_options.ts";
export type {
  Journal,
  JournalStatus,
  RunJournal,
  RunStart,
  RunSummary,
  StepOutcome,
  StepRecord,
  StepStart,
  StepTurn,
  StoredFile,
} from "./lib/core/journal.ts";
export type { StepError, StepKind } from "./lib/core/step.ts";

export { SourceError } from "./lib/core/source_error.ts";
export type { SourceErrorOptions, Span } from "./lib/core/source_error.ts";
export { systemClock, virtualClock } from "./lib/core/clock.ts";
export type { Clock, VirtualClock } from "./lib/core/clock.ts";
export { memoryFiles } from "./lib/core/memory_files.ts";
export type { Files } from "./lib/core/world.ts";
export type { Json, JsonObject } from "./lib/core/json.ts";
export type { PermissionKind, Permissions } from "./lib/core/permission.ts";
