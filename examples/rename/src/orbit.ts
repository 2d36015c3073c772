/** Seconds of one round on an orbit, by Kepler's third law. */
export function calcPeriod(semiMajorAxisM: number, massKg: number): number {
  const gravitation = 6.6743e-11;
  return 2 * Math.PI * Math.sqrt(semiMajorAxisM ** 3 / (gravitation * massKg));
}
