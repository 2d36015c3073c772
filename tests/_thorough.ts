// What takes long is tried a little by `deno task test`, and thoroughly by `deno task soak thorough`.

/** Whether this is the soak. */
export const isThorough: boolean = Deno.env.get("ORRERY_THOROUGH") === "1";

/** A test of the soak alone. */
export function thoroughTest(name: string, fn: () => Promise<void>): void {
  if (isThorough) Deno.test(name, fn);
}

/** How often a property is tried that stands at a door: each try is a command or a request. */
export function tries(few: number, inTheSoak: number): number {
  return isThorough ? inTheSoak : few;
}
