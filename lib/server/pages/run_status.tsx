import type { JSX } from "hono/jsx/jsx-runtime";
import { statusTone } from "../../render/step_words.ts";

/** How a run stands: in a word, and in a colour for whoever sees colours. */
export function RunStatusBadge({ status, live = false }: {
  readonly status: string;
  /** Whether a script of the page goes on with it, and it is read out when it changes. */
  readonly live?: boolean;
}): JSX.Element {
  return (
    <span
      class="badge"
      data-tone={statusTone(status)}
      data-run-status={live ? true : undefined}
      role={live ? "status" : undefined}
    >
      {status}
    </span>
  );
}
