import type { AgentProfile } from "../../catalog/agent_profile.ts";
import { type Json, toJson, toJsonObject } from "../../core/core.ts";
import type { ProfileJson } from "./look.ts";

/** A profile as plain data, without what may be secret. */
export function profileData(
  { name, model, effort, systemPrompt, system, limits, modelArgs }: AgentProfile,
): ProfileJson {
  return {
    name,
    model,
    ...(effort && { effort }),
    systemPrompt,
    system,
    limits: toJsonObject(limits),
    modelArgs: hiddenSecrets(toJson(modelArgs)),
  };
}

/** Words that name secrets; an author is none, and a word to search for is no key. */
const SECRET = "key(?!word|board)|token|secret|passw|credential|auth(?!or(?!i[sz]))";
const SECRET_NAME = new RegExp(SECRET, "i");
const SECRET_ARGUMENT = new RegExp(`([?&\\s-][\\w.-]*(?:${SECRET})[\\w.-]*=)[^&#\\s]+`, "gi");

/** Whether what has this name may be secret. */
export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name);
}

/** A value without what its names or its form tell to be secret: keys, passwords in addresses and arguments. */
export function hiddenSecrets(value: Json): Json {
  if (typeof value === "string") return hiddenInText(value);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    return value.map((part, index) => isSecretFlag(value[index - 1]) ? "(hidden)" : hiddenSecrets(part));
  }
  return Object.fromEntries(
    Object.entries(value).map((
      [name, part],
    ) => [name, isSecretName(name) ? hidden(part, name) : hiddenSecrets(part)]),
  );
}

/** What has a secret name: a number may be a password, unless it is one of tokens. */
function hidden(value: Json, name: string): Json {
  if (typeof value === "string" || typeof value === "number" && !/tokens$/i.test(name)) return "(hidden)";
  return Array.isArray(value) ? value.map((part) => hidden(part, name)) : hiddenSecrets(value);
}

/** `--api-key`, whose value is the next argument. */
function isSecretFlag(argument: Json | undefined): boolean {
  return typeof argument === "string" && /^--?[\w-]+$/.test(argument) && isSecretName(argument);
}

function hiddenInText(text: string): string {
  return text
    .replace(/^(\w+:\/\/)[^/@\s]+@/, "$1(hidden)@")
    .replaceAll(SECRET_ARGUMENT, "$1(hidden)");
}
