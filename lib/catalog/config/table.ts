import { EFFORTS, MEDIA_PATTERNS, PROVIDER_TYPES } from "../../core/core.ts";
import { CONVERSATION_STEPS, DOCUMENT_LIMITS, GADGET_FOLDER } from "./config.ts";
import type { ConfigRule, ConfigValue } from "./read.ts";

/** As many seconds as a timer of JavaScript can wait. */
const MOST_SECONDS = 2_147_483;

// The rules of the table are JSON Schemas: they drive the reading, and the TypeScript types.

const text = { type: "string", minLength: 1 } as const;
const flag = { type: "boolean" } as const;
const count = { type: "integer", minimum: 1 } as const;
const seconds = { type: "number", exclusiveMinimum: 0, maximum: MOST_SECONDS } as const;
const price = { type: "number", minimum: 0 } as const;

const listOf = <const Of extends ConfigRule>(items: Of) => ({ type: "array", items }) as const;
/** Any key. */
const mapOf = <const Of extends ConfigRule>(of: Of) =>
  ({ type: "object", additionalProperties: of }) as const;
/** These keys only. */
const keysOf = <const Keys extends Readonly<Record<string, ConfigRule>>>(properties: Keys) =>
  ({ type: "object", properties, additionalProperties: false }) as const;
/** The first rule whose shape the value has. */
const either = <const Of extends readonly ConfigRule[]>(...anyOf: Of) => ({ anyOf }) as const;
/** A rule, what its key is for, and what holds without it. */
const key = <const Rule extends ConfigRule, const Default = undefined>(
  rule: Rule,
  description: string,
  value?: Default,
) =>
  ({ description, ...rule, ...(value !== undefined && { default: value }) }) as Rule & {
    readonly description: string;
    readonly default: Default;
  };

const texts = listOf(text);
const anyMap = mapOf({});
const permission = either({ const: true }, texts);

/** Every key of `orrery.yaml` (config.md). */
export const CONFIG_TABLE = keysOf({
  "models": key(
    keysOf({
      "default": key(text, "The model used when nothing names one: provider/model, or an alias."),
      "aliases": key(mapOf(text), "Short names of models."),
      "fallback": key(mapOf(texts), "For a model or alias: what to try when it fails, in order."),
      "providers": key(
        mapOf(keysOf({
          "type": key(
            { enum: PROVIDER_TYPES },
            "Which protocol it speaks. Default: the name of the provider, when that is a type.",
          ),
          "baseURL": key(text, "Where its interface is, such as http://127.0.0.1:11434/v1."),
          "apiKeyEnv": key(
            text,
            "The variable that holds its key. Default: those of its type; openai-compatible: none.",
          ),
          "headers": key(mapOf(text), "Headers of every request; ${VAR} is replaced by the variable."),
          "queryParams": key(mapOf(text), "Added to every URL; openai-compatible only."),
          "api": key({ enum: ["responses", "chat"] }, "Which interface of openai is used.", "responses"),
          "structuredOutputs": key(
            flag,
            "Whether an openai-compatible provider can hold answers to a JSON Schema.",
            false,
          ),
          "contextTokens": key(count, "Tokens of the window of its models, where Orrery does not know it."),
          "thoughts": key(
            { enum: ["reasoning", "text"] },
            "What <think>…</think> at the beginning of an answer is. reasoning: a thought, also where " +
              "its beginning is not marked, for which the answer is held back until its end is known; text: a part of the " +
              "answer. Default: a thought, where it is marked.",
          ),
          "effort": key(
            { enum: EFFORTS },
            "How hard its models think before they answer, where neither a flag, a file nor a profile says so. Default: the provider's.",
          ),
          "media": key(
            listOf({ enum: MEDIA_PATTERNS } as const),
            "The types of files that its models can be shown besides text; [] for text alone. Default: what its type takes.",
          ),
          "options": key(
            anyMap,
            "Options of the provider's own for every request, as its AI SDK package has them.",
          ),
        })),
        "Providers by name. In a project they count after you accepted the project.",
      ),
      "prices": key(
        mapOf(keysOf({
          "input": key(price, "US dollars for a million tokens of input."),
          "output": key(price, "US dollars for a million tokens of output."),
          "cached": key(price, "For input read from the provider's cache. Default: as input."),
          "cacheWrite": key(price, "For input written to the provider's cache. Default: as input."),
        })),
        "Prices by provider/model, over the ones that come with Orrery.",
      ),
    }),
    "Which models there are, and which one is used.",
  ),
  "tools-mode": key(
    { enum: ["blocks", "native"] },
    "How models are given tools; over the default of every kind of run.",
  ),
  "calls": key(
    keysOf({
      "markers": key(
        keysOf({
          "start": key(text, "Opens a block.", "!!!GADGET_START:"),
          "end": key(text, "Closes a block.", "!!!GADGET_END"),
          "arg": key(text, "Opens an argument of a block.", "!!!ARG:"),
        }),
        "The line beginnings that make a call block; none a prefix of another.",
      ),
    }),
    "Call files.",
  ),
  "gadgets": key(
    keysOf({
      "folders": key(texts, "Where the gadget modules are, relative to this file.", [`${GADGET_FOLDER}/`]),
      "isolation": key(
        mapOf({ const: "none" }),
        'By gadget, as grants name it: "none" runs it in the process of Orrery, which needs the grant "trusted".',
      ),
    }),
    "The gadgets of the project.",
  ),
  "grants": key(
    mapOf(either(
      { const: "trusted" },
      keysOf({
        "read": key(permission, "Files it may read: true for all, or a list of paths."),
        "write": key(permission, "Files it may write: true for all, or a list of paths."),
        "net": key(permission, "Hosts it may reach: true for all, or a list of host or host:port."),
        "env": key(permission, "Variables it may read: true for all, or a list of names."),
        "run": key(permission, "Programs it may start: true for all, or a list of names."),
        "sys": key(permission, "System information it may read: true for all, or a list of kinds."),
      }),
    )),
    'By gadget or its file: "trusted", or what it may do. In a project it counts after you accepted the project; your own settings name the project too, as in ~/notes/Fetch, or the path of the file.',
  ),
  "mcpServers": key(
    mapOf(keysOf({
      "command": key(text, "The program of a server on stdio."),
      "args": key(texts, "Its arguments."),
      "env": key(mapOf(text), "Its environment; ${VAR} is replaced."),
      "url": key(text, "The address of a server over HTTP."),
      "headers": key(mapOf(text), "Headers of every request; ${VAR} is replaced."),
    })),
    "MCP servers by name, in the form of .mcp.json. In a project they count after you accepted the project.",
  ),
  "prompts": key(
    keysOf({
      "folders": key(
        listOf(either(
          text,
          keysOf({
            "path": key(text, "The folder."),
            "prefix": key(text, "What the names of its prompts begin with."),
          }),
        )),
        "Where prompt files are, relative to this file.",
        ["prompts/"],
      ),
    }),
    "The prompts of the project.",
  ),
  "tactics": key(
    keysOf({
      "folders": key(texts, "Where tactic modules are, relative to this file.", ["tactics/"]),
    }),
    "The tactics of the project.",
  ),
  "agents": key(
    listOf(either(text, anyMap)),
    "Profiles: a name, a model and a system prompt each, or the name of a file that holds some.",
  ),
  "agentDefaults": key(anyMap, "What every profile has unless it says otherwise."),
  "documents": key(
    keysOf({
      "show-operations": key(flag, "Models see the operations of a document too."),
      "temperature": key({ type: "number", minimum: 0, maximum: 2 }, "The temperature of @llm."),
      "shell": key(text, "The shell of @shell."),
    }),
    "Executable documents.",
  ),
  "conversations": key(
    keysOf({
      "collection": key(text, "The collection file that retrievers search, relative to this file."),
      "embeddings": key(
        text,
        "The model of embeddings that retrievers search with besides words: provider/model, or an alias.",
      ),
      "timeout-s": key(seconds, "Seconds one model call or request of a step may take."),
    }),
    "Conversations.",
  ),
  "telemetry": key(
    keysOf({
      "otlp": key(
        flag,
        "Spans of all runs go to the collector that OTEL_EXPORTER_OTLP_ENDPOINT names.",
        false,
      ),
      "content": key(flag, "Prompts, answers, arguments, results and error messages are in them.", false),
    }),
    "OpenTelemetry; in your own settings only.",
  ),
  "exclude": key(texts, "Files and folders that orrery check leaves out: globs, relative to this file."),
  "limits": key(
    keysOf({
      "concurrency": key(count, "How many calls run at once.", 16),
      "timeout-s": key(
        seconds,
        "Seconds one call may take, unless its gadget says otherwise.",
        60,
      ),
      "turns": key(count, "Model turns of a run.", 10),
      "retries": key(
        { type: "integer", minimum: 0 },
        "How often an answer that does not meet its output contract goes back to the model.",
        3,
      ),
      "tokens": key(count, "Tokens of a run, input and output together."),
      "cost": key({ type: "number", exclusiveMinimum: 0 }, "Cost of a run in US dollars."),
      "time-s": key(seconds, "Seconds of a run."),
      "goto": key(count, "Jumps of a document.", DOCUMENT_LIMITS.goto),
      "tool-turns": key(count, "Rounds of tool calls of one document operation.", DOCUMENT_LIMITS.toolTurns),
      "shell-timeout": key(seconds, "Seconds one @shell may take.", DOCUMENT_LIMITS.shellTimeoutS),
      "steps": key(
        count,
        "Steps of a conversation that are made without waiting for the person.",
        CONVERSATION_STEPS,
      ),
      "result-bytes": key(
        count,
        "Bytes of one result; a longer one is cut and marked.",
        1_048_576,
      ),
      "gadget-idle-s": key(
        seconds,
        "Seconds after which an idle gadget process ends.",
        30,
      ),
      "gadget-memory-mb": key(
        count,
        "Megabytes one gadget process may use.",
        256,
      ),
      "runs": key(count, "Runs at once of a server.", 64),
    }),
    "What no run goes beyond.",
  ),
});

/** A configuration file as it was written. */
export type ConfigFile = ConfigValue<typeof CONFIG_TABLE>;
