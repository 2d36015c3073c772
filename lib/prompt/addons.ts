import { frozenCopy } from "../core/frozen_copy.ts";
import { isRecord } from "../core/json.ts";
import { shown } from "../schema/issue.ts";
import { jsonRecord } from "./json_record.ts";
import { promptProblem } from "./prompt_problem.ts";
import { refuseUnknownKeys } from "./refuse_unknown_keys.ts";

/** A computer that a model may use. */
export interface ComputerUse {
  /** Pixels. */
  readonly displayWidth: number;
  /** Pixels. */
  readonly displayHeight: number;
  /** Such as `browser`. */
  readonly environment: string;
}

/** What a provider offers besides tools (prompts.md 5). False is the same as absent; other names are kept as they are. */
export interface Addons {
  readonly webSearch?: boolean;
  /** What is left out: 1280 by 800 pixels of a `browser`. */
  readonly computerUse?: boolean | Partial<ComputerUse>;
  readonly [name: string]: unknown;
}

const COMPUTER: ComputerUse = Object.freeze({
  displayWidth: 1280,
  displayHeight: 800,
  environment: "browser",
});

/** The addons of a prompt, checked and frozen. @throws {PromptError} `define` */
export function readAddons(value: unknown, path: string): Addons {
  const addons: Readonly<Record<string, unknown>> = jsonRecord("addons", value, path);
  checkAddons(addons, path);
  return frozenCopy(addons);
}

/** The complete settings of the addon `computerUse`; null when it is not used. */
export function computerUseConfig({ computerUse = false }: Addons): ComputerUse | null {
  if (computerUse === false) return null;
  return computerUse === true ? COMPUTER : Object.freeze({ ...COMPUTER, ...computerUse });
}

function checkAddons(addons: Readonly<Record<string, unknown>>, path: string): asserts addons is Addons {
  const { webSearch, computerUse } = addons;
  if (webSearch !== undefined && typeof webSearch !== "boolean") {
    throw promptProblem(path, `addon webSearch must be true or false, found ${shown(webSearch)}`);
  }
  if (isRecord(computerUse)) checkComputer(computerUse, path);
  else if (computerUse !== undefined && typeof computerUse !== "boolean") {
    const wanted = "true, false or { displayWidth, displayHeight, environment }";
    throw promptProblem(path, `addon computerUse must be ${wanted}, found ${shown(computerUse)}`);
  }
}

function checkComputer(settings: Readonly<Record<string, unknown>>, path: string): void {
  refuseUnknownKeys(settings, { known: Object.keys(COMPUTER), path, where: "addon computerUse: " });
  const { displayWidth, displayHeight, environment } = settings;
  for (const [name, pixels] of Object.entries({ displayWidth, displayHeight })) {
    if (pixels === undefined || typeof pixels === "number" && Number.isSafeInteger(pixels) && pixels > 0) {
      continue;
    }
    throw promptProblem(path, `addon computerUse: ${name} must be whole pixels, found ${shown(pixels)}`);
  }
  if (environment === undefined || typeof environment === "string" && environment !== "") return;
  throw promptProblem(path, `addon computerUse: environment must be text, found ${shown(environment)}`);
}
