/**
 * Orrery: LLM work kept in plain files. This module is the public door; everything else may change.
 *
 * @module
 */

export { CallParser } from "./lib/parse/calls/calls.ts";
export type { CallBlock, CallEvent, CallParserOptions } from "./lib/parse/calls/calls.ts";
export { parseCalls } from "./lib/parse/calls/calls.ts";
export { writeCalls } from "./lib/parse/calls/write.ts";
export type { WritableCall, WriteCallsOptions } from "./lib/parse/calls/write.ts";
export type { Markers } from "./lib/parse/calls/header.ts";

export { schedule } from "./lib/schedule/schedule.ts";
export type { NodeContext, NodeOutcome, ScheduleNode, ScheduleOptions } from "./lib/schedule/scheduler.ts";
export type { Group } from "./lib/schedule/scheduler.ts";

export { defineGadget } from "./lib/schema/define_gadget.ts";
export type {
  AnyGadget,
  DefinedGadget,
  Gadget,
  GadgetCall,
  GadgetContext,
  GadgetRunner,
  JsonSchema,
  Schema,
  StandardIssue,
  StandardResult,
  StandardSchema,
} from "./lib/core/gadget.ts";
export type { GadgetDefinition } from "./lib/schema/define_gadget.ts";
export type { InputOf } from "./lib/schema/input_type.ts";
export { createCatalog } from "./lib/catalog/catalog.ts";
export { loadCatalog } from "./lib/service/program/agent.ts";
export type { LoadCatalogOptions } from "./lib/service/program/agent.ts";
export type { Catalog, CatalogEntry, GadgetSource } from "./lib/core/catalog.ts";

export { runCalls } from "./lib/run/calls/calls.ts";
export type { RunCallsOptions } from "./lib/run/calls/calls.ts";
export type { CallErrorCode, RunEvent, RunEventBody, RunKind, RunStatus } from "./lib/core/event.ts";
export { ask, chat } from "./lib/run/dialog/dialog.ts";
export type { DialogOptions, DialogSource } from "./lib/run/dialog/dialog.ts";
export { schemaContract } from "./lib/run/turn/answer_contract.ts";
export type { ContractResult, OutputContract } from "./lib/run/turn/answer_contract.ts";
export type { Budget } from "./lib/run/budget.ts";
export type { TurnPolicy } from "./lib/run/turn/turn.ts";

export { definePrompt } from "./lib/prompt/define_prompt.ts";
export type {
  AnyPrompt,
  Prompt,
  PromptDef,
  PromptInfo,
  PromptOverrides,
  ToolRef,
} from "./lib/prompt/prompt.ts";
export type { ArgsList, ArgsOf } from "./lib/prompt/inference.ts";
export type { Raw } from "./lib/prompt/inference.ts";
export type { Addons, ComputerUse } from "./lib/prompt/addons.ts";
export type { Mcp } from "./lib/prompt/mcp_servers.ts";
export type { Renderer } from "./lib/prompt/prompt.ts";
export type {
  Handler,
  HandlerAnswer,
  HandlerCall,
  HandlerFunction,
  HandlerState,
} from "./lib/prompt/handler.ts";
export { tags } from "./lib/prompt/tags.ts";
export { TagParser } from "./lib/prompt/tags.ts";
export type { TagResult, TagSpec } from "./lib/prompt/tags.ts";
export type { ParseCtx, Parser } from "./lib/prompt/prompt.ts";
export { ParseError, PromptError } from "./lib/core/source_error.ts";
export type { ParseIssue, Problem, PromptErrorCode } from "./lib/core/source_error.ts";

export { PromptRegistry } from "./lib/prompt/registry.ts";
export type { RegisterOptions } from "./lib/prompt/registry.ts";
export { defaultRuntime, registerPrompt } from "./lib/prompt/registry.ts";
export type { Runtime } from "./lib/prompt/registry.ts";
export { discoverPrompts } from "./lib/service/program/prompts.ts";
export type { DiscoverPromptsOptions } from "./lib/service/program/prompts.ts";
export type { Discovery, PromptFolder } from "./lib/catalog/prompts/discover.ts";

export { defineTactic } from "./lib/run/tactic/tactic.ts";
export type { TacticDefinition } from "./lib/run/tactic/tactic.ts";
export type { Tactic, TacticCtx, TacticOptions } from "./lib/run/tactic/tactic.ts";

export { createAgent } from "./lib/service/program/agent.ts";
export type { AgentOptions } from "./lib/service/program/agent.ts";
export type { AgentLimits } from "./lib/prompt/limits.ts";
export type { Agent, CallOptions, Dialog, Reply } from "./lib/run/agent/agent.ts";
export type { ForkOptions } from "./lib/run/agent/dialog_log.ts";
export { AgentError } from "./lib/run/agent/call_state.ts";
export type { AgentErrorCode } from "./lib/run/agent/call_state.ts";
export type { CallState } from "./lib/run/agent/call_state.ts";
export { runPrompt } from "./lib/run/agent/prompt_run.ts";
export type { RunPromptOptions } from "./lib/run/agent/prompt_run.ts";
export type { ModelPort, PortReply, PortRequest } from "./lib/service/program/port_model.ts";
export type { DialogMessage } from "./lib/core/model.ts";

export { parseDocument, printDocument } from "./lib/parse/document/document.ts";
export type { ParseDocumentOptions } from "./lib/parse/document/document.ts";
export type {
  DocumentNode,
  DocumentProblem,
  DocumentTree,
  FrontMatterNode,
  HeadingNode,
  OperationNode,
  TextNode,
} from "./lib/parse/document/tree.ts";
export type { OperationName } from "./lib/parse/document/operation.ts";
export { checkDocument } from "./lib/service/program/document.ts";
export type { CheckDocumentOptions } from "./lib/service/program/document.ts";
export type { FileProblem } from "./lib/check/check_options.ts";
export { runDocument } from "./lib/service/program/document.ts";
export type { RunDocumentOptions } from "./lib/service/program/document.ts";
export type { DocumentInput, DocumentOptions } from "./lib/service/program/document.ts";
export type { DocumentWorld } from "./lib/project/bounded_world.ts";
export { DocumentCheckError } from "./lib/service/program/document.ts";

export { loadAgent } from "./lib/service/program/conversation.ts";
export { AgentFileError } from "./lib/parse/agent/agent.ts";
export type { AgentCode, AgentProblem } from "./lib/parse/agent/agent.ts";
export type {
  AgentFile,
  AgentPrompt,
  AgentStep,
  BranchFields,
  ConditionOperation,
  ConversationGoal,
  ExtractionSchema,
  ExtractionValue,
  JudgeFields,
  LlmFields,
  MemorySelection,
  ModelFields,
  RequestFields,
  SlotDestination,
  SlotPath,
  SlotPreload,
  SlotSource,
  SourceSelection,
  StepAction,
  StepBase,
  StepCondition,
  StepFlow,
  StepOf,
} from "./lib/parse/agent/agent.ts";
export { openConversation } from "./lib/service/program/conversation.ts";
export type { ConversationOptions, Store } from "./lib/service/program/conversation.ts";
export type { ProgramFetch } from "./lib/run/conversation/http_of_fetch.ts";
export type {
  ConversationModelFunction,
  ConversationModelRequest,
} from "./lib/service/program/model_of_function.ts";
export type { Conversation, ConversationStatus } from "./lib/run/conversation/conversation.ts";
export { ConversationError } from "./lib/core/journal.ts";
export type { ConversationErrorCode } from "./lib/core/journal.ts";
export type { Checkpoint, ConversationSave, LogEntry, SlotScope, SlotWrite } from "./lib/core/journal.ts";

export { openCollection } from "./lib/service/program/collection.ts";
export type { OpenCollectionOptions } from "./lib/service/program/collection.ts";
export type { Collection, Passage } from "./lib/core/world.ts";
export type { Embedder } from "./lib/core/model.ts";

export { fakeModel } from "./lib/core/fake_model.ts";
export type { FakeModel, FakeReply } from "./lib/core/fake_model.ts";
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
export type { ContentPart, Message, Reasoning, ToolCall } from "./lib/core/model.ts";
export type { MediaNote, MediaPart, Words } from "./lib/core/media.ts";
export type { Effort } from "./lib/core/model_settings.ts";

export { memoryJournal } from "./lib/journal/memory_journal.ts";
export { openJournal } from "./lib/service/keep.ts";
export type { JournalOptions } from "./lib/journal/store.ts";
export type {
  BeginOptions,
  ConversationRecord,
  Journal,
  JournalStatus,
  MessageRange,
  RunJournal,
  RunQuery,
  RunStart,
  RunSummary,
  RunTrace,
  StepOutcome,
  StepRecord,
  StepStart,
  StepTurn,
  StoredFile,
} from "./lib/core/journal.ts";
export type { StepError, StepKind } from "./lib/core/event.ts";

export { ProblemsError, SourceError } from "./lib/core/source_error.ts";
export type { SourceErrorOptions, Span } from "./lib/core/source_error.ts";
export { systemClock } from "./lib/core/clock.ts";
export { virtualClock } from "./lib/core/clock.ts";
export type { Clock } from "./lib/core/clock.ts";
export type { VirtualClock } from "./lib/core/clock.ts";
export { memoryFiles } from "./lib/core/memory_files.ts";
export { FileError, PermissionRefused } from "./lib/core/world.ts";
export type {
  FileErrorCode,
  Files,
  Http,
  HttpOptions,
  HttpStream,
  PermissionRequest,
  Policy,
  Shell,
  ShellResult,
  User,
  World,
} from "./lib/core/world.ts";
export type { Json, JsonObject } from "./lib/core/json.ts";
export type { PermissionKind, Permissions } from "./lib/core/world.ts";
