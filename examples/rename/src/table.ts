import { calcPeriod } from "./orbit.ts";

const SUN_KG = 1.98847e30;

/** Days of a year on a planet. */
export function daysOfYear(semiMajorAxisM: number): number {
  return calcPeriod(semiMajorAxisM, SUN_KG) / 86_400;
}
