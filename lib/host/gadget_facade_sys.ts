import type { Json } from "../core/json.ts";
import { notGranted } from "./gadget_facade_error.ts";

/** Tells what was granted of the system. */
export type SystemFacts = (name: string) => Json;

/**
 * @param granted by the name of the permission, such as `hostname`
 * @param onAsked told each name that is asked for
 */
export function systemFacts(
  granted: Readonly<Record<string, Json>>,
  onAsked: (name: string) => void = () => {},
): SystemFacts {
  return (name) => {
    onAsked(name);
    const value = Object.hasOwn(granted, name) ? granted[name] : undefined;
    if (value !== undefined) return value;
    throw notGranted(
      `Asking the system for "${name}" is not allowed: write sys: ["${name}"] into the gadget's permissions, and grant it with ` +
        `--allow-gadget NAME=sys:${name}`,
    );
  };
}
