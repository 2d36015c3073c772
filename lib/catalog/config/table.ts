import { type JsonSchema, PROVIDER_TYPES } from "../../core/core.ts";
import { CONVERSATION_STEPS, DOCUMENT_LIMITS, GADGET_FOLDER, LIMIT_DEFAULTS } from "./config.ts";
import type { ConfigKey, ConfigRule, ConfigValue } from "./read.ts";

/** As many seconds as a timer of JavaScript can wait. */
const MOST_SECONDS = 2_147_483;

const text = { kind: "text" } as const;
const texts = { kind: "list", of: text } as const;
const anyMap = { kind: "map", of: { kind: "any" } } as const;
const count = { kind: "number", whole: true, least: 1 } as const;
const seconds = { kind: "number", above: 0, most: MOST_SECONDS } as const;

const permission = { kind: "either", of: [{ kind: "choice", values: [true] }, texts] } as const;

const price = { kind: "number", least: 0 } as const;

/** Every key of `orrery.yaml` (config.md). */
export const CONFIG_TABLE = {
  kind: "keys",
  keys: {
    "models": {
      kind: "keys",
      about: "Which models there are, and which one is used.",
      keys: {
        "default": { ...text, about: "The model used when nothing names one: provider/model, or an alias." },
        "aliases": { kind: "map", of: text, about: "Short names of models." },
        "fallback": {
          kind: "map",
          of: texts,
          about: "For a model or alias: what to try when it fails, in order.",
        },
        "providers": {
          kind: "map",
          of: {
            kind: "keys",
            keys: {
              "type": {
                kind: "choice",
                values: PROVIDER_TYPES,
                about: "Which protocol it speaks. Default: the name of the provider, when that is a type.",
              },
              "baseURL": { ...text, about: "Where its interface is, such as http://127.0.0.1:11434/v1." },
              "apiKeyEnv": {
                ...text,
                about:
                  "The variable that holds its key. Default: those of its type; openai-compatible: none.",
              },
              "headers": {
                kind: "map",
                of: text,
                about: "Headers of every request; ${VAR} is replaced by the variable.",
              },
              "queryParams": { kind: "map", of: text, about: "Added to every URL; openai-compatible only." },
              "api": {
                kind: "choice",
                values: ["responses", "chat"],
                about: "Which interface of openai is used.",
                default: "responses",
              },
              "structuredOutputs": {
                kind: "boolean",
                about: "Whether an openai-compatible provider can hold answers to a JSON Schema.",
                default: false,
              },
              "contextTokens": {
                ...count,
                about: "Tokens of the window of its models, where Orrery does not know it.",
              },
              "thoughts": {
                kind: "choice",
                values: ["reasoning", "text"],
                about:
                  "What <think>…</think> at the beginning of an answer is. reasoning: a thought, also where " +
                  "its beginning is not marked, for which the answer is held back until its end is known; text: a part of the " +
                  "answer. Default: a thought, where it is marked.",
              },
              "options": {
                ...anyMap,
                about: "Options of the provider's own for every request, as its AI SDK package has them.",
              },
            },
          },
          about: "Providers by name. In a project they count after you accepted the project.",
        },
        "prices": {
          kind: "map",
          of: {
            kind: "keys",
            keys: {
              "input": { ...price, about: "US dollars for a million tokens of input." },
              "output": { ...price, about: "US dollars for a million tokens of output." },
              "cached": { ...price, about: "For input read from the provider's cache. Default: as input." },
              "cacheWrite": {
                ...price,
                about: "For input written to the provider's cache. Default: as input.",
              },
            },
          },
          about: "Prices by provider/model, over the ones that come with Orrery.",
        },
      },
    },
    "tools-mode": {
      kind: "choice",
      values: ["blocks", "native"],
      about: "How models are given tools; over the default of every kind of run.",
    },
    "calls": {
      kind: "keys",
      about: "Call files.",
      keys: {
        "markers": {
          kind: "keys",
          about: "The line beginnings that make a call block; none a prefix of another.",
          keys: {
            "start": { ...text, about: "Opens a block.", default: "!!!GADGET_START:" },
            "end": { ...text, about: "Closes a block.", default: "!!!GADGET_END" },
            "arg": { ...text, about: "Opens an argument of a block.", default: "!!!ARG:" },
          },
        },
      },
    },
    "gadgets": {
      kind: "keys",
      about: "The gadgets of the project.",
      keys: {
        "folders": {
          ...texts,
          about: "Where the gadget modules are, relative to this file.",
          default: [`${GADGET_FOLDER}/`],
        },
        "isolation": {
          kind: "map",
          of: { kind: "choice", values: ["none"] },
          about:
            'By gadget, as grants name it: "none" runs it in the process of Orrery, which needs the grant "trusted".',
        },
      },
    },
    "grants": {
      kind: "map",
      of: {
        kind: "either",
        of: [
          { kind: "choice", values: ["trusted"] },
          {
            kind: "keys",
            keys: {
              "read": { ...permission, about: "Files it may read: true for all, or a list of paths." },
              "write": { ...permission, about: "Files it may write: true for all, or a list of paths." },
              "net": {
                ...permission,
                about: "Hosts it may reach: true for all, or a list of host or host:port.",
              },
              "env": { ...permission, about: "Variables it may read: true for all, or a list of names." },
              "run": { ...permission, about: "Programs it may start: true for all, or a list of names." },
              "sys": {
                ...permission,
                about: "System information it may read: true for all, or a list of kinds.",
              },
            },
          },
        ],
      },
      about:
        'By gadget or its file: "trusted", or what it may do. In a project it counts after you accepted the project; your own settings name the project too, as in ~/notes/Fetch, or the path of the file.',
    },
    "mcpServers": {
      kind: "map",
      of: {
        kind: "keys",
        keys: {
          "command": { ...text, about: "The program of a server on stdio." },
          "args": { ...texts, about: "Its arguments." },
          "env": { kind: "map", of: text, about: "Its environment; ${VAR} is replaced." },
          "url": { ...text, about: "The address of a server over HTTP." },
          "headers": { kind: "map", of: text, about: "Headers of every request; ${VAR} is replaced." },
        },
      },
      about:
        "MCP servers by name, in the form of .mcp.json. In a project they count after you accepted the project.",
    },
    "prompts": {
      kind: "keys",
      about: "The prompts of the project.",
      keys: {
        "folders": {
          kind: "list",
          of: {
            kind: "either",
            of: [text, {
              kind: "keys",
              keys: {
                "path": { ...text, about: "The folder." },
                "prefix": { ...text, about: "What the names of its prompts begin with." },
              },
            }],
          },
          about: "Where prompt files are, relative to this file.",
          default: ["prompts/"],
        },
      },
    },
    "tactics": {
      kind: "keys",
      about: "The tactics of the project.",
      keys: {
        "folders": {
          ...texts,
          about: "Where tactic modules are, relative to this file.",
          default: ["tactics/"],
        },
      },
    },
    "agents": {
      kind: "list",
      of: { kind: "either", of: [text, anyMap] },
      about: "Profiles: a name, a model and a system prompt each, or the name of a file that holds some.",
    },
    "agentDefaults": { ...anyMap, about: "What every profile has unless it says otherwise." },
    "documents": {
      kind: "keys",
      about: "Executable documents.",
      keys: {
        "show-operations": { kind: "boolean", about: "Models see the operations of a document too." },
        "temperature": { kind: "number", least: 0, most: 2, about: "The temperature of @llm." },
        "shell": { ...text, about: "The shell of @shell." },
      },
    },
    "conversations": {
      kind: "keys",
      about: "Conversations.",
      keys: {
        "collection": {
          ...text,
          about: "The collection file that retrievers search, relative to this file.",
        },
        "embeddings": {
          ...text,
          about:
            "The model of embeddings that retrievers search with besides words: provider/model, or an alias.",
        },
        "timeout-s": { ...seconds, about: "Seconds one model call or request of a step may take." },
      },
    },
    "exclude": {
      ...texts,
      about: "Files and folders that orrery check leaves out: globs, relative to this file.",
    },
    "limits": {
      kind: "keys",
      about: "What no run goes beyond.",
      keys: {
        "concurrency": {
          ...count,
          about: "How many calls run at once.",
          default: LIMIT_DEFAULTS.concurrency,
        },
        "timeout-s": {
          ...seconds,
          about: "Seconds one call may take, unless its gadget says otherwise.",
          default: LIMIT_DEFAULTS["timeout-s"],
        },
        "turns": { ...count, about: "Model turns of a run.", default: LIMIT_DEFAULTS.turns },
        "retries": {
          kind: "number",
          whole: true,
          least: 0,
          about: "How often an answer that does not meet its output contract goes back to the model.",
          default: LIMIT_DEFAULTS.retries,
        },
        "tokens": { ...count, about: "Tokens of a run, input and output together." },
        "cost": {
          kind: "number",
          above: 0,
          about: "Cost of a run in US dollars.",
        },
        "time-s": { ...seconds, about: "Seconds of a run." },
        "goto": { ...count, about: "Jumps of a document.", default: DOCUMENT_LIMITS.goto },
        "tool-turns": {
          ...count,
          about: "Rounds of tool calls of one document operation.",
          default: DOCUMENT_LIMITS.toolTurns,
        },
        "shell-timeout": {
          ...seconds,
          about: "Seconds one @shell may take.",
          default: DOCUMENT_LIMITS.shellTimeoutS,
        },
        "steps": {
          ...count,
          about: "Steps of a conversation that are made without waiting for the person.",
          default: CONVERSATION_STEPS,
        },
        "result-bytes": {
          ...count,
          about: "Bytes of one result; a longer one is cut and marked.",
          default: LIMIT_DEFAULTS["result-bytes"],
        },
        "gadget-idle-s": {
          ...seconds,
          about: "Seconds after which an idle gadget process ends.",
          default: LIMIT_DEFAULTS["gadget-idle-s"],
        },
        "gadget-memory-mb": {
          ...count,
          about: "Megabytes one gadget process may use.",
          default: LIMIT_DEFAULTS["gadget-memory-mb"],
        },
        "runs": { ...count, about: "Runs at once of a server.", default: LIMIT_DEFAULTS.runs },
      },
    },
  },
} as const satisfies ConfigKey | {
  readonly kind: "keys";
  readonly keys: { readonly [key: string]: ConfigKey };
};

/** A configuration file as it was written. */
export type ConfigFile = ConfigValue<typeof CONFIG_TABLE>;

/** The JSON Schema (draft 2020-12) of `orrery.yaml`, for editors. */
export function configSchema(): JsonSchema {
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "orrery.yaml",
    description: "The settings of an Orrery project.",
    ...schemaOf(CONFIG_TABLE),
  };
}

function schemaOf(rule: ConfigRule): JsonSchema {
  switch (rule.kind) {
    case "text":
      return { type: "string", minLength: 1 };
    case "boolean":
      return { type: "boolean" };
    case "number":
      return numberSchema(rule);
    case "choice":
      return rule.values.length === 1 ? { const: rule.values[0] } : { enum: rule.values };
    case "list":
      return { type: "array", items: schemaOf(rule.of) };
    case "map":
      return { type: "object", additionalProperties: schemaOf(rule.of) };
    case "keys":
      return {
        type: "object",
        properties: Object.fromEntries(
          Object.entries(rule.keys).map(([name, key]) => [name, keySchema(key)]),
        ),
        additionalProperties: false,
      };
    case "either":
      return { anyOf: rule.of.map(schemaOf) };
    case "any":
      return {};
    default:
      return rule satisfies never;
  }
}

function keySchema(key: ConfigKey): JsonSchema {
  return {
    description: key.about,
    ...schemaOf(key),
    ...(key.default !== undefined && { default: key.default }),
  };
}

function numberSchema(rule: ConfigRule & { readonly kind: "number" }): JsonSchema {
  return {
    type: rule.whole ? "integer" : "number",
    ...(rule.least !== undefined && { minimum: rule.least }),
    ...(rule.above !== undefined && { exclusiveMinimum: rule.above }),
    ...(rule.most !== undefined && { maximum: rule.most }),
  };
}
