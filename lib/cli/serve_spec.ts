import type { CommandSpec } from "./flag.ts";
import { help, permissionFlags, quiet, trustProject } from "./flag_groups.ts";

const [allowRead, allowWrite, allowNet, , allowEnv, , ...denyFlags] = permissionFlags;

/** `orrery serve`. */
export const SERVE = {
  name: "serve",
  summary: "Serves the project over HTTP: a page, an API, models and tools.",
  arguments: [],
  flags: [
    {
      name: "port",
      short: "p",
      kind: "number",
      value: "PORT",
      default: "7337",
      help: "Where it listens; 0 for any port that is free.",
    },
    {
      name: "host",
      kind: "text",
      value: "HOST",
      default: "127.0.0.1",
      help: "The address it listens at. Any other than this machine's own lets others in who have the token.",
    },
    {
      name: "name",
      kind: "texts",
      value: "NAME[:PORT]",
      help: "A name by which it may be asked for besides HOST. May be repeated.",
    },
    {
      name: "token",
      kind: "text",
      value: "TOKEN",
      default: "ORRERY_TOKEN, else a new one",
      help: "What whoever asks has to show; at least 16 characters.",
    },
    {
      name: "no-token",
      kind: "switch",
      help: "Whoever is on this machine may ask. Not with another --host.",
    },
    {
      name: "ephemeral",
      kind: "switch",
      help: "Keeps nothing of the runs: they cannot be resumed.",
    },
    quiet,
    trustProject,
    allowRead,
    allowWrite,
    allowNet,
    allowEnv,
    ...denyFlags,
    help,
  ],
  notes: [
    "stdout gets the URL. stderr gets the token and a link to the page, which works once; the token is in .orrery/orrery.db-token as well while the server runs, for you alone.",
    "What runs may do is what these flags and the grants of orrery.yaml say. Commands, and gadgets of the project, need a grant there; nobody is asked at the terminal.",
    "Ctrl-C or SIGTERM ends it in order: steps that are under way get 10 seconds, and what is left can be gone on with by orrery resume. Once more ends it at once.",
    "Exit codes: 0 ended in order, 1 it cannot listen, 2 usage or configuration, 130 ended at once.",
  ],
  examples: [
    { line: "orrery serve", does: "at http://127.0.0.1:7337, with a new token" },
    { line: "orrery serve --port 0 --ephemeral --no-token", does: "for a test, at any free port" },
    {
      line: 'curl -H "Authorization: Bearer $(cat .orrery/orrery.db-token)" http://127.0.0.1:7337/v1/catalog',
      does: "asks it",
    },
  ],
} as const satisfies CommandSpec;
