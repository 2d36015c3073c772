import type { ConfigKey, ConfigValue } from "./config_rule.ts";

/** As many seconds as a timer of JavaScript can wait. */
const MOST_SECONDS = 2_147_483;

const text = { kind: "text" } as const;
const texts = { kind: "list", of: text } as const;
const anyMap = { kind: "map", of: { kind: "any" } } as const;
const count = { kind: "number", whole: true, least: 1 } as const;
const seconds = { kind: "number", above: 0, most: MOST_SECONDS } as const;

const permission = { kind: "either", of: [{ kind: "choice", values: [true] }, texts] } as const;

const unused = true;

/** Every key of `orrery.yaml` (config.md). A key that is built later loses its `unused` then. */
export const CONFIG_TABLE = {
  kind: "keys",
  keys: {
    "models": {
      kind: "keys",
      unused,
      about: "Which models there are, and which one is used.",
      keys: {
        "default": { ...text, about: "The model used when nothing names one: provider/model, or an alias." },
        "aliases": { kind: "map", of: text, about: "Short names of models." },
        "fallback": {
          kind: "map",
          of: texts,
          about: "For a model or alias: what to try when it fails, in order.",
        },
        "providers": { kind: "map", of: anyMap, about: "Providers by name: type, baseURL and the like." },
        "prices": { ...anyMap, about: "Prices by model, over the ones that come with Orrery." },
      },
    },
    "tools-mode": {
      kind: "choice",
      values: ["blocks", "native"],
      unused,
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
          default: ["gadgets/"],
        },
        "isolation": {
          kind: "map",
          of: { kind: "choice", values: ["none"] },
          about: 'By gadget: "none" runs it in the process of Orrery, which needs the grant "trusted".',
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
        'By gadget, file or stem of the file: "trusted", or what it may do. In a project it counts after you accepted the project.',
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
      unused,
      about: "MCP servers by name, in the form of .mcp.json.",
    },
    "prompts": {
      kind: "keys",
      unused,
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
    "agents": {
      kind: "list",
      of: { kind: "either", of: [text, anyMap] },
      unused,
      about: "Profiles: a name, a model and a system prompt each, or the name of a file that holds some.",
    },
    "agentDefaults": { ...anyMap, unused, about: "What every profile has unless it says otherwise." },
    "documents": {
      kind: "keys",
      unused,
      about: "Executable documents.",
      keys: {
        "show-operations": { kind: "boolean", about: "Models see the operations of a document too." },
        "temperature": { kind: "number", least: 0, most: 2, about: "The temperature of @llm." },
        "shell": { ...text, about: "The shell of @shell." },
      },
    },
    "conversations": {
      kind: "keys",
      unused,
      about: "Conversations.",
      keys: {
        "collection": { ...text, about: "The collection file that retrievers search." },
        "timeout-s": { ...seconds, about: "Seconds one model call may take." },
      },
    },
    "limits": {
      kind: "keys",
      about: "What no run goes beyond.",
      keys: {
        "concurrency": { ...count, about: "How many calls run at once.", default: 16 },
        "timeout-s": {
          ...seconds,
          about: "Seconds one call may take, unless its gadget says otherwise.",
          default: 60,
        },
        "turns": { ...count, unused, about: "Model turns of a run.", default: 10 },
        "retries": {
          kind: "number",
          whole: true,
          least: 0,
          unused,
          about: "How often a model call is tried again.",
          default: 3,
        },
        "tokens": { ...count, unused, about: "Tokens of a run." },
        "cost": {
          kind: "number",
          above: 0,
          unused,
          about: "Cost of a run, in the currency of the price table.",
        },
        "time-s": { ...seconds, unused, about: "Seconds of a run." },
        "goto": { ...count, unused, about: "Jumps of a document.", default: 30 },
        "tool-turns": {
          ...count,
          unused,
          about: "Rounds of tool calls of one document operation.",
          default: 8,
        },
        "shell-timeout": { ...seconds, unused, about: "Seconds one @shell may take.", default: 120 },
        "steps": { ...count, unused, about: "Steps of a conversation or document.", default: 250 },
        "result-bytes": {
          ...count,
          about: "Bytes of one result; a longer one is cut and marked.",
          default: 1_048_576,
        },
        "gadget-idle-s": {
          ...seconds,
          unused,
          about: "Seconds after which an idle gadget process ends.",
          default: 30,
        },
        "gadget-memory-mb": {
          ...count,
          unused,
          about: "Megabytes one gadget process may use.",
          default: 256,
        },
        "runs": { ...count, unused, about: "Runs at once of a server.", default: 64 },
      },
    },
  },
} as const satisfies ConfigKey | {
  readonly kind: "keys";
  readonly keys: { readonly [key: string]: ConfigKey };
};

/** A configuration file as it was written. */
export type ConfigFile = ConfigValue<typeof CONFIG_TABLE>;
