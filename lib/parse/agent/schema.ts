// What may stand in an agent file (conversations.md 1, 2.10 to 2.12, 3), as shapes: what only Orrery knows is marked as an extension.

import { type Json, type JsonObject, orMeant } from "../../core/core.ts";
import { parseJsonPath } from "../../schema/json_path.ts";
import { prepareSchema } from "../../schema/prepare_schema.ts";
import {
  type AgentFile,
  type AgentPrompt,
  type AgentStep,
  type ConditionOperation,
  DESTINATIONS,
  type ExtractionSchema,
  type MemorySelection,
  type ModelFields,
  type SlotPath,
  type SlotSource,
  type SourceSelection,
  type StepAction,
  type StepFlow,
} from "./agent.ts";
import {
  ANYTHING,
  camel,
  type FilePart,
  FLAG,
  inWords,
  keysOfFormat,
  kindOf,
  listOf,
  mapOf,
  mapping,
  type MappingRule,
  NAME,
  NUMBER,
  numberBetween,
  oneKeyOf,
  oneOf,
  pathText,
  Shape,
  TEXT,
  VERSION,
  wholeNumber,
} from "../shape/shape.ts";
import { printableNumber } from "../yaml/tree.ts";

const DEFINITIONS: Record<string, JsonObject> = {};

/** Gives a shape a name in the JSON Schema, where others refer to it. */
function define<Value>(name: string, shape: Shape<Value>): Shape<Value> {
  DEFINITIONS[name] = shape.schema;
  return new Shape(refTo(name), shape.read, shape.about, shape.absent);
}

function refTo(name: string): JsonObject {
  return { $ref: `#/$defs/${name}` };
}

// Scalars

const TEMPLATE = define(
  "Template",
  new Shape({
    type: ["string", "number", "boolean"],
    description:
      "Text with {{slot}} or {{destination.slot}} placeholders. A number or boolean is read as its text.",
  }, (part) => {
    const { value } = part;
    return typeof value === "number" || typeof value === "boolean" ? part.written : TEXT.read(part);
  }),
);

/** Any YAML; the texts in it may have placeholders. */
const VALUE_TEMPLATE = define("ValueTemplate", ANYTHING);

/** The same where it is printed: a number as it is written, `3.10`. */
function printable(value: Json, part: FilePart): Json {
  return typeof value === "number" ? printableNumber(value, part.written) : value;
}

function checkJsonPath(path: string, part: FilePart): void {
  const parsed = parseJsonPath(path);
  if ("ok" in parsed) return;
  if (path.startsWith("$")) {
    const message = `is not a valid JSONPath: ${JSON.stringify(path)}`;
    return part.refuse(message, { kind: "json-path", hint: parsed.problem });
  }
  const meant = `$.${path.replace(/^\./, "")}`;
  const isMeant = /^[\w[\].*-]+$/.test(path) && "ok" in parseJsonPath(meant);
  const message = `must be a JSONPath starting with "$", found ${JSON.stringify(path)}`;
  part.refuse(`${message}${orMeant(isMeant ? meant : undefined)}`, { kind: "json-path" });
}

const JSON_PATH = TEXT.check(checkJsonPath, { pattern: "^\\$" });
const SOURCE_PATH = define("JsonPath", JSON_PATH);

/** The name of a field, or a JSONPath. */
const FIELD_PATH = NAME.check((path, part) => {
  if (path.startsWith("$")) checkJsonPath(path, part);
});

// Slots

const DESTINATION = define("Destination", oneOf(DESTINATIONS).or(DESTINATIONS[0])).optional;
const SLOT = {
  name: NAME.for({ description: "Slot name." }),
  destination: DESTINATION,
  global: FLAG.for({ deprecated: "Use destination instead." }).optional,
};

/** `global: true` is the old way to say `destination: global`, and nothing else may be said beside it. */
const GLOBAL_RULE: MappingRule = {
  schema: {
    if: { required: ["global"], properties: { global: { const: true } } },
    then: { properties: { destination: { const: "global" } } },
  },
  check: (part) => {
    const destination = part.child("destination")?.value;
    const isOther = typeof destination === "string" && destination !== "global";
    if (part.child("global")?.value !== true || !isOther) return;
    part.refuseKey(`"global: true" and "destination: ${destination}" contradict each other; drop "global"`);
  },
};

function slotPath(
  { name, destination, global: isGlobal = false }: {
    readonly name: string;
    readonly destination: SlotPath["destination"] | undefined;
    readonly global: boolean | undefined;
  },
): SlotPath {
  return { destination: destination ?? (isGlobal ? "global" : "conversation"), name };
}

const SLOT_PATH = define("SlotPath", mapping("a slot path", SLOT, { rules: [GLOBAL_RULE] }).to(slotPath));

/** Where a value goes. */
const SAVE_TARGET = define("SaveTarget", mapping("a target", { slot: SLOT_PATH }).to(({ slot }) => slot));
const TARGET = SAVE_TARGET.for({ mistakenFor: "store" });
const STORE = SAVE_TARGET.for({ mistakenFor: "target" }).optional;

// Conditions

const equality = <Operator extends "equals" | "not-equals">(operator: Operator) =>
  ANYTHING.to((value) => ({ operator, value }));
const limit = <
  Operator extends "greater-than" | "less-than" | "greater-than-or-equal" | "less-than-or-equal",
>(operator: Operator) => NUMBER.to((value) => ({ operator, value }));

const OPERATION = define(
  "ConditionOperation",
  oneKeyOf<ConditionOperation>("a condition", {
    equals: equality("equals"),
    "not-equals": equality("not-equals"),
    exists: FLAG.to((value) => ({ operator: "exists", value })),
    "greater-than": limit("greater-than"),
    "less-than": limit("less-than"),
    "greater-than-or-equal": limit("greater-than-or-equal"),
    "less-than-or-equal": limit("less-than-or-equal"),
  }, { operator: "exists", value: true }),
);

const CONDITION = define(
  "Condition",
  mapping("a condition", {
    name: NAME.for({ description: "Slot to check." }),
    condition: OPERATION,
    destination: SLOT.destination,
    global: SLOT.global,
  }, { rules: [GLOBAL_RULE] }).to(({ condition, ...slot }) => ({
    slot: slotPath(slot),
    operation: condition,
  })),
);

// Where a step goes on

const FLOW = define(
  "Flow",
  oneKeyOf<StepFlow>("a flow", {
    goto: NAME.for({
      description: "Id of the step to go on with; of a chain, the id of its first step.",
    }).to((goto) => ({ goto })),
    action: oneOf(["continue", "repeat"], ["end"]).to((action) => ({ action })),
  }, { action: "continue" }),
);

const BRANCHES = { success: FLOW, fail: FLOW };

// How a model is asked

const PROMPT = define(
  "Prompt",
  oneKeyOf<AgentPrompt>("a prompt", {
    system: TEMPLATE.to((text) => ({ role: "system", text })),
    user: TEMPLATE.to((text) => ({ role: "user", text })),
    "a-i": TEMPLATE.to((text) => ({ role: "assistant", text })),
    constant: NAME.for({ description: "Name of a constant." }).to((name) => ({ role: "constant", name })),
  }, { role: "constant", name: "" }),
);
const PROMPTS = listOf(PROMPT);

const SELECTION = define(
  "MemorySelection",
  oneKeyOf<MemorySelection>("a selection", {
    selector: oneOf(["current", "all"]).to((selector) => ({ selector })),
    from: NAME.for({ description: "Id of the step whose messages to include." }).to((from) => ({ from })),
  }, { selector: "all" }),
);

const EFFORT = define(
  "ReasoningEffort",
  oneOf(["none", "minimal", "low", "medium", "high", "xhigh"], ["max"]),
);

const MODEL = {
  model: NAME.for({ description: "Overrides the default model." }).optional,
  temperature: numberBetween(0, 2).optional,
  effort: EFFORT.for({ isExtension: true, description: "How hard the model thinks; over reasoning-effort." })
    .optional,
  "reasoning-effort": EFFORT.optional,
  "reasining-effort": EFFORT.for({ deprecated: "Write reasoning-effort." }).optional,
  memory: listOf(SELECTION).for({
    description:
      "The messages that any of these selects, oldest first. Left out: none for llm, all for validator, extractor and summarizer.",
  }).optional,
  "memory-limit": wholeNumber(1).for({ description: "Only the newest N of the selected messages." }).optional,
};

type Efforts = Readonly<Record<"effort" | "reasoningEffort" | "reasiningEffort", ModelFields["effort"]>>;

function withEffort<Body extends Efforts>(
  { effort, reasoningEffort, reasiningEffort, ...model }: Body,
): Omit<Body, keyof Efforts> & Pick<ModelFields, "effort"> {
  return { ...model, effort: effort ?? reasoningEffort ?? reasiningEffort };
}

const JUDGE = {
  prompts: PROMPTS.or([]),
  ...MODEL,
  "skip-prefix": FLAG.for({
    description: "Leave out the built-in instruction that is put before the prompts.",
  }).optional.to((isSkipped) => isSkipped ?? false),
};

// Steps

const HOLD = FLAG.optional.to((isHeld) => isHeld ?? false);

const MESSAGE = define(
  "MessageBody",
  mapping(`"message"`, {
    message: TEXT.for({ description: "What is said. It may have placeholders." }),
    hold: HOLD.for({ description: "Wait for the user after this message." }),
  }, {
    notMapping: (value) =>
      typeof value === "string"
        ? `must be a mapping; write "message:" with "message: <text>" below it`
        : undefined,
  }),
);

const OBJECT = mapOf(ANYTHING);

const ANSWER_SCHEMA = OBJECT.to((schema, part) => {
  const prepared = prepareSchema(schema);
  if ("broken" in prepared) {
    const { pointer, message } = prepared.broken;
    part.refuse(`is no JSON Schema that can be used: ${pointer === "" ? "" : `${pointer}: `}${message}`);
  }
  return schema;
});

/** A model needs something to answer to: prompts, of the file or of the project. */
const PROMPTS_RULE: MappingRule = {
  schema: { anyOf: [{ required: ["prompts"] }, { required: ["prompt"], "x-extension": true }] },
  check: (part, { what, hasUnknown }) => {
    const [prompts, prompt, memory] = ["prompts", "prompt", "memory"].map((key) => part.child(key));
    const isEmpty = (value: unknown) => Array.isArray(value) && value.length === 0;
    if (prompts === undefined && prompt === undefined) {
      if (!hasUnknown) part.refuseKey(`"prompts" is required in ${what}`, "missing");
    } else if (prompts !== undefined && prompt !== undefined) {
      part.refuseKey(`"prompts" and "prompt" exclude each other; drop one of them`);
    } else if (isEmpty(prompts?.value) && (memory === undefined || isEmpty(memory.value))) {
      part.refuseKey("has no prompts and no memory, so there is nothing to send to the model");
    }
    if (prompt === undefined) part.child("args")?.refuseKey(`needs "prompt" beside it`);
  },
};

const LLM = define(
  "LlmBody",
  mapping(`"llm"`, {
    prompts: PROMPTS.optional,
    ...MODEL,
    store: STORE,
    hold: HOLD.for({ description: "Wait for the user after the answer." }),
    "skip-prefix": FLAG.for({ deprecated: "It means nothing for llm: leave it out." }).optional,
    tools: listOf(NAME).for({
      isExtension: true,
      description: "Gadgets and MCP tools that the model may call.",
    }).optional,
    prompt: NAME.for({
      isExtension: true,
      description: "A prompt of the project in place of prompts, with its output contract.",
    }).optional,
    args: OBJECT.for({ isExtension: true, description: "What the prompt is given." }).optional,
    schema: ANSWER_SCHEMA.for({ isExtension: true, description: "JSON Schema of the answer." }).optional,
  }, { rules: [PROMPTS_RULE] }).to(({ prompts = [], prompt, args = {}, skipPrefix: _, ...body }) => ({
    ...withEffort(body),
    prompts,
    prompt: prompt === undefined ? undefined : { path: prompt, args },
  })),
);

const SET_SLOT = define(
  "SetSlotBody",
  mapping(`"set-slot"`, {
    values: listOf(mapping("a value", { path: SLOT_PATH, value: VALUE_TEMPLATE.to(printable) }), {
      isFilled: true,
    }),
  }),
);

/** RFC 9110, 5.6.2 */
const TOKEN = "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$";

const HEADER_NAME = TEXT.check((name, part) => {
  if (!new RegExp(TOKEN).test(name)) {
    part.refuse(`must be the name of a header, found ${JSON.stringify(name)}`);
  }
}, { pattern: TOKEN });

const REQUEST = {
  url: NAME.for({ description: "Target URL. Placeholders are filled in, percent-encoded." }),
  method: oneOf(["GET", "POST", "PUT", "DELETE"]),
  headers: listOf(mapping("a header", { key: HEADER_NAME, value: TEMPLATE })).or([]),
  body: VALUE_TEMPLATE.optional,
  "response-path": JSON_PATH.for({
    description: "JSONPath (RFC 9535) of what is wanted of the answer.",
  }).optional,
};

const API = define(
  "ApiBody",
  mapping(`"api-call"`, { ...REQUEST, target: TARGET, ...BRANCHES }),
);
const SSE = define(
  "SseBody",
  mapping(`"sse-call"`, { ...REQUEST, store: STORE }),
);

const GOAL = define(
  "ConversationGoal",
  mapping("a goal", {
    name: NAME.for({ description: "Also the slot that the verdict goes to." }),
    goal: TEMPLATE,
    examples: listOf(TEMPLATE).or([]),
  }),
);

const VALIDATOR = define(
  "ValidatorBody",
  mapping(`"validator"`, {
    goals: listOf(GOAL, {
      isFilled: true,
      keyOf: ({ name }) => name,
      twice: (goal, name) => goal.child("name")?.refuse(`goal ${JSON.stringify(name)} is listed twice`),
    }),
    type: oneOf(["all", "any"]).or("all"),
    ...BRANCHES,
    ...JUDGE,
  }).to(withEffort),
);

/** A schema may hold itself: what it is stands further down. */
const INNER_SCHEMA: Shape<ExtractionSchema> = new Shape(
  refTo("ExtractionSchema"),
  (part) => EXTRACTION_SCHEMA.read(part),
);
const EXTRACTION = {
  description: TEMPLATE,
  type: oneOf(["string", "number", "integer", "boolean", "array", "object"]).or("string"),
  enum: uniqueTexts().optional,
  examples: listOf(TEMPLATE).or([]),
  items: INNER_SCHEMA.optional,
  properties: mapOf(INNER_SCHEMA, { isFilled: true }).optional,
};

function uniqueTexts(): Shape<readonly string[]> {
  const { schema, read } = listOf(TEXT, {
    isFilled: true,
    keyOf: (word) => word,
    twice: (part, word) => part.refuse(`${JSON.stringify(word)} is listed twice`),
  });
  return new Shape({ ...schema, uniqueItems: true }, read);
}

const ONLY_FOR = { enum: "string", items: "array", properties: "object" };
const TYPE_RULE: MappingRule = {
  schema: {
    allOf: Object.entries(ONLY_FOR).map(([key, type]) => ({
      if: { required: [key] },
      then: { ...(type === "string" ? {} : { required: ["type"] }), properties: { type: { const: type } } },
    })),
  },
  check: (part) => {
    const found = part.child("type")?.value ?? "string";
    if (typeof found !== "string") return;
    for (const [key, type] of Object.entries(ONLY_FOR)) {
      const message = `is only for type ${JSON.stringify(type)}; type is ${JSON.stringify(found)}`;
      if (found !== type) part.child(key)?.refuseKey(message);
    }
  },
};

const EXTRACTION_SCHEMA = define(
  "ExtractionSchema",
  mapping("a schema", EXTRACTION, { rules: [TYPE_RULE] }),
);
const EXTRACTION_VALUE = define(
  "ExtractionValue",
  mapping("a value", { ...EXTRACTION, target: TARGET }, { rules: [TYPE_RULE] }),
);

const EXTRACTOR = define(
  "ExtractorBody",
  mapping(`"extractor"`, {
    values: listOf(EXTRACTION_VALUE, {
      isFilled: true,
      keyOf: ({ target: { destination, name } }) => name === "" ? "" : `${destination}.${name}`,
      twice: (value, slot) =>
        value.child("target")?.refuse(`two values write the same slot ${JSON.stringify(slot)}`),
    }),
    ...BRANCHES,
    ...JUDGE,
  }).to(withEffort),
);

const RETRIEVER = define(
  "RetrieverBody",
  mapping(`"retriever"`, {
    query: SLOT_PATH,
    target: TARGET,
    limit: wholeNumber(1).or(4),
    secondary: FLAG.or(true),
  }),
);

const COUNTER = define(
  "CounterBody",
  mapping(`"counter"`, { slot: SLOT_PATH }),
);

const SUMMARIZER = define(
  "SummarizerBody",
  mapping(`"summarizer"`, { ...JUDGE, type: oneOf(["append", "replace"]).or("append") })
    .to(withEffort),
);

const GADGET = define(
  "GadgetBody",
  mapping(`"gadget"`, {
    name: NAME.for({ description: "Name of the gadget." }),
    input: VALUE_TEMPLATE.or({}),
    target: TARGET.optional,
    success: FLOW.optional,
    fail: FLOW.optional,
  }),
);

const RUN = define(
  "RunBody",
  mapping(`"run"`, {
    file: NAME.for({ description: "A document, or the path of a prompt." }),
    input: VALUE_TEMPLATE.optional,
    target: TARGET.optional,
  }),
);

const ID_PATTERN = "^[^\\s{}](?:[^{}]*[^\\s{}])?$";

/** Jumps and memories refer to it. */
const STEP_ID = define(
  "StepId",
  TEXT.check((id, part) => {
    if (id === "") part.refuse("must not be empty");
    else if (!new RegExp(ID_PATTERN).test(id)) {
      part.refuse(`must not begin or end with a blank, or hold "{" or "}"`);
    }
  }, { pattern: ID_PATTERN }),
);

/** What a step is stands further down. */
const INNER_STEP: Shape<AgentStep> = new Shape(refTo("Step"), (part) => STEP.read(part));
const STEP_LIST = define("StepList", listOf(INNER_STEP, { isFilled: true }));

const STEPS = STEP_LIST.to((steps) => ({ steps }));

/** What a step can do, by its key. */
const ACTIONS = {
  message: MESSAGE.for({ description: "Says something." }).optional,
  llm: LLM.for({ description: "Lets a model answer." }).optional,
  chain: STEPS.for({ description: "Steps in their order." }).optional,
  combined: STEPS.for({ description: "Steps side by side." }).optional,
  flow: FLOW.to((flow) => ({ flow })).for({ description: "Goes on elsewhere." })
    .optional,
  "set-slot": SET_SLOT.for({ description: "Writes slots." }).optional,
  "api-call": API.for({ description: "Calls an HTTP API." }).optional,
  "sse-call": SSE.for({ description: "Says what an HTTP API streams." }).optional,
  validator: VALIDATOR.for({ description: "Lets a model judge whether goals are reached." }).optional,
  extractor: EXTRACTOR.for({ description: "Lets a model fill slots with what was said." }).optional,
  retriever: RETRIEVER.for({ description: "Looks passages up in the documents." }).optional,
  counter: COUNTER.for({ description: "Adds one to a slot." }).optional,
  summarizer: SUMMARIZER.for({ description: 'Writes a summary to the slot "summary".' }).optional,
  gadget: GADGET.for({ description: "Calls a gadget.", isExtension: true }).optional,
  run: RUN.for({ description: "Runs a document or a prompt.", isExtension: true }).optional,
} satisfies {
  readonly [Kind in StepAction["kind"]]: Shape<
    Omit<Extract<StepAction, { readonly kind: Kind }>, "kind"> | undefined
  >;
};

const ONE_ACTION: MappingRule = {
  schema: {
    oneOf: Object.entries(ACTIONS).map(([key, { about: { isExtension } }]) => ({
      required: [key],
      ...(isExtension ? { "x-extension": true } : {}),
    })),
  },
  check: (part, { hasUnknown }) => {
    const found = part.keys.filter((key) => Object.hasOwn(ACTIONS, key));
    const one = `one of ${keysOfFormat(ACTIONS)}`;
    if (found.length > 1) {
      part.refuseKey(`a step needs exactly ${one}; found ${inWords(found)}`);
    } else if (found.length === 0 && !hasUnknown) {
      part.refuseKey(`the step does nothing; add ${one}`, "missing");
    }
  },
};

const STEP: Shape<AgentStep> = define(
  "Step",
  mapping("a step", {
    id: STEP_ID.for({ missing: `every step needs an "id"` }),
    conditions: listOf(CONDITION).for({
      description: "The step is skipped unless all of them hold.",
    }).or([]),
    ...ACTIONS,
  }, { rules: [ONE_ACTION] }).to(({ id, conditions, ...actions }, part) => {
    const bodies: Readonly<Record<string, object | undefined>> = actions;
    const kind = part.keys.find((key) => Object.hasOwn(ACTIONS, key));
    // What stands at the key of a kind is the rest of that kind.
    const action = kind === undefined ? NOTHING : { kind, ...bodies[camel(kind)] } as StepAction;
    const { path, reading } = part.child(part.keys[0] ?? "") ?? part;
    const span = reading?.span(path) ?? { line: 1, column: 1 };
    return { id, conditions, path: pathText(part.path), span, ...action };
  }),
);

const NOTHING: StepAction = { kind: "message", message: "", hold: false };

// Slots that are filled before the first step (conversations.md 2.11). A source is a mapping with one key that names its kind; those of a
// session and of a module may also be spelled flat, with the path beside the key.

const CURRENT: SourceSelection = { selector: "current" };

const SCOPE = define(
  "ScopeSelection",
  oneKeyOf<SourceSelection>("a selection", {
    selector: oneOf(["current", "Current"]).to(() => CURRENT),
    from: NAME.to((from) => ({ from })),
  }, CURRENT),
);

const OF_MODULE = { module: SCOPE.optional, path: SOURCE_PATH };
const OF_SESSION = { session: SCOPE.optional, ...OF_MODULE };

function sessionSource(what: string): Shape<SlotSource> {
  return mapping(what, OF_SESSION).to(({ session = CURRENT, module = CURRENT, path }) => ({
    kind: "session",
    session,
    module,
    path,
  }));
}

function moduleSource(what: string): Shape<SlotSource> {
  return mapping(what, OF_MODULE).to(({ module = CURRENT, path }) => ({ kind: "module", module, path }));
}

const SOURCES: Readonly<Record<SlotSource["kind"], Shape<SlotSource>>> = {
  session: define("SessionPath", sessionSource(`"session"`)),
  module: define("ModulePath", moduleSource(`"module"`)),
  user: define(
    "UserPath",
    mapping(`"user"`, {
      path: FIELD_PATH.for({ description: "A field of the user, or a JSONPath." }),
    }).to((source) => ({ kind: "user", ...source })),
  ),
  "user-config": mapping(`"user-config"`, { key: NAME, path: SOURCE_PATH })
    .to((source) => ({ kind: "user-config", ...source })),
  "user-context-log": mapping(`"user-context-log"`, {
    key: NAME,
    path: SOURCE_PATH,
    filter: oneOf(["latest", "earliest"]).or("latest"),
  }).to((source) => ({ kind: "user-context-log", ...source })),
};

const NO_SOURCE: SlotSource = { kind: "user", path: "" };
const TAGGED = oneKeyOf("a source", SOURCES, NO_SOURCE);
const FLAT = { session: sessionSource("a source"), module: moduleSource("a source") };

const SOURCE = define(
  "ValueSource",
  new Shape({
    oneOf: [
      ...Object.entries(SOURCES).map(([key, { schema }]) => ({
        type: "object",
        properties: { [key]: schema },
        required: [key],
        additionalProperties: false,
      })),
      ...Object.entries(FLAT).map(([key, { schema }]) => ({ ...schema, required: [key, "path"] })),
    ],
  }, (part) => {
    const { keys } = part;
    if (!keys.includes("path") || keys.length > 1) {
      const isFlat = keys.includes("path");
      if (isFlat && keys.includes("session")) return FLAT.session.read(part);
      if (isFlat && keys.includes("module")) return FLAT.module.read(part);
      if (keys.length > 0 || kindOf(part.value) !== "a mapping") return TAGGED.read(part);
    }
    part.refuseKey(
      'does not say where the value comes from; use "session:", "module:" or "user:" with "path" below it',
      "missing",
    );
    return NO_SOURCE;
  }),
);

const PRELOAD = define(
  "LoadToSlot",
  mapping("a slot", { name: NAME.for({ description: "Slot to fill." }), source: SOURCE }),
);

// The file

const CONSTANTS = mapOf(ANYTHING.to(printable)).to((constants, part) => {
  if (part.child("") !== undefined) part.refuse("must not have an empty name", { at: { key: "" } });
  return constants;
});

/** What a file says of its agent. */
export type AgentStructure = Pick<AgentFile, "id" | "root" | "constants" | "preloads">;

const STRUCTURE = define(
  "AgentStructure",
  mapping(`"structure"`, {
    id: NAME.for({ description: "Unique id of the agent." }),
    action: STEP.for({ description: "The first step, often a chain." }),
    constants: new Shape({ type: "object", propertyNames: { minLength: 1 } }, CONSTANTS.read).for({
      description: "Values that all steps can insert.",
    }).or({}),
    slots: listOf(PRELOAD).for({ description: "Slots that are filled before the first step." }).or([]),
  }).to(({ id, action, constants, slots }) => ({ id, root: action, constants, preloads: slots })),
);

/** A whole file. */
export const AGENT_ROOT: Shape<AgentStructure> = mapping("the file", {
  version: VERSION,
  structure: STRUCTURE,
}, {
  notMapping: (value) =>
    value === null
      ? 'is empty; it needs "version" and "structure"'
      : `must be a mapping with "version" and "structure", found ${kindOf(value)}`,
}).to(({ structure }) => structure);

/** The JSON Schema of `*.agent.yml`, for editors. What only Orrery knows has `x-extension`. */
export function agentSchema(): JsonObject {
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "LLM agent (*.agent.yml, *.agent.yaml), version 0.1",
    ...AGENT_ROOT.schema,
    $defs: DEFINITIONS,
  };
}
