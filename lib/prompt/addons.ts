import { frozenCopy, isRecord } from "../core/core.ts";
import { shown } from "../schema/issue.ts";
import { jsonRecord, promptProblem, type Refuse, refuseUnknownKeys } from "./prompt_problem.ts";

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

/** The addons of a prompt, checked and frozen. */
export function readAddons(value: unknown, path: string, refuse: Refuse): Addons {
  const addons = jsonRecord("addons", value, { path, refuse });
  const wrong = (at: readonly string[], message: string) =>
    refuse(["addons", ...at], promptProblem(path, `addon ${message}`));
  const { webSearch, computerUse } = addons;
  if (webSearch !== undefined && typeof webSearch !== "boolean") {
    wrong(["webSearch"], `webSearch must be true or false, found ${shown(webSearch)}`);
  }
  if (isRecord(computerUse)) {
    const at = ["addons", "computerUse"];
    refuseUnknownKeys(computerUse, Object.keys(COMPUTER), { path, where: "addon computerUse: ", at, refuse });
    for (const name of ["displayWidth", "displayHeight"]) {
      const { [name]: pixels = 1 } = computerUse;
      if (typeof pixels === "number" && Number.isSafeInteger(pixels) && pixels > 0) continue;
      wrong(["computerUse", name], `computerUse: ${name} must be whole pixels, found ${shown(pixels)}`);
    }
    const { environment = "browser" } = computerUse;
    if (typeof environment !== "string" || environment === "") {
      const message = `computerUse: environment must be text, found ${shown(environment)}`;
      wrong(["computerUse", "environment"], message);
    }
  } else if (computerUse !== undefined && typeof computerUse !== "boolean") {
    const wanted = "true, false or { displayWidth, displayHeight, environment }";
    wrong(["computerUse"], `computerUse must be ${wanted}, found ${shown(computerUse)}`);
  }
  return frozenCopy(addons);
}

/** The complete settings of the addon `computerUse`; null when it is not used. */
export function computerUseConfig({ computerUse = false }: Addons): ComputerUse | null {
  if (computerUse === false) return null;
  return computerUse === true ? COMPUTER : Object.freeze({ ...COMPUTER, ...computerUse });
}
