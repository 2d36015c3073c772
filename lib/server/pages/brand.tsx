import type { JSX } from "hono/jsx/jsx-runtime";

/** The sign of Orrery: a planet on its way around. */
export function Brand(): JSX.Element {
  return (
    <svg viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="1.5" aria-hidden="true">
      <circle cx="12" cy="12" r="2.6" fill="currentColor" stroke="none" />
      <ellipse cx="12" cy="12" rx="10.2" ry="5.2" transform="rotate(-24 12 12)" />
      <circle cx="21.2" cy="7.6" r="1.7" fill="currentColor" stroke="none" />
      <circle cx="12" cy="12" r="6" stroke-dasharray="1.2 2.2" />
      <circle cx="7.8" cy="16.3" r="1.3" fill="currentColor" stroke="none" />
    </svg>
  );
}
