import type { RunEvent } from "../core/event.ts";
import type { EventRange } from "../core/journal.ts";
import { parsedEvents } from "./run_rows.ts";
import type { JournalStore } from "./store.ts";

/** What it is read from. */
type EventStore = Pick<JournalStore, "eventList" | "eventLists">;

/** The events of a run behind a place, as far as the bounds go. The place is found by halves: of all lists a dozen are looked at. */
export function eventsBehind(
  store: EventStore,
  id: string,
  { after = 0, limit = Infinity, maxBytes = Infinity }: EventRange,
): readonly RunEvent[] {
  const lists = store.eventLists(id);
  const events: RunEvent[] = [];
  let room = maxBytes;
  for (let n = firstBehind(store, { id, after, lists }); n <= lists; n++) {
    if (events.length > 0 && room <= 0) break;
    const text = store.eventList(id, n) ?? "[]";
    for (const event of parsedEvents([text])) {
      if (events.length >= limit) return events;
      if (event.seq > after) events.push(event);
    }
    room -= text.length;
  }
  return events;
}

/** The number of the first list with an event behind the place; one more than there are where none has. */
function firstBehind(
  store: EventStore,
  { id, after, lists }: { readonly id: string; readonly after: number; readonly lists: number },
): number {
  let low = 1;
  let high = after > 0 ? lists + 1 : 1;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const last = parsedEvents([store.eventList(id, middle) ?? "[]"]).at(-1)?.seq ?? 0;
    if (last > after) high = middle;
    else low = middle + 1;
  }
  return low;
}
