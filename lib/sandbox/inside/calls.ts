// The calls of a gadget, as many at once as Orrery begins. Each ends with one frame: a result, an error, an invalid input or the answer to
// its cancelling; what it tells after that is told of no call.

import type { FromGadget, ToGadget } from "../../core/gadget_message.ts";
import { foundValue } from "../../core/shown.ts";
import { OpenCall } from "./call.ts";
import type { FoundGadget } from "./describe.ts";
import { frameOf } from "./frames.ts";
import { isStream, resultFrame, sendPieces } from "./result.ts";
import {
  apply,
  isArray,
  isFinite,
  later,
  mapDelete,
  mapEach,
  mapGet,
  mapSet,
  OwnMap,
  OwnTypeError,
  quote,
  toText,
} from "./primordials.ts";
import type { GadgetTelling } from "./tell.ts";
import { cut, thrownError, thrownText } from "./thrown.ts";
import { type WorkContext, workContext } from "./context.ts";

type Message<Type extends ToGadget["type"]> = Extract<ToGadget, { readonly type: Type }>;
/** Characters of what a schema says against an input. */
const MOST_ISSUES = 65_536;

type Ending = Extract<FromGadget["type"], "result" | "error" | "invalid" | "cancelled">;

/** What calls need of the process. */
export interface CallSurroundings {
  readonly gadget: FoundGadget;
  readonly telling: GadgetTelling;
  readonly maxResultBytes: number;
  send(frame: Uint8Array<ArrayBuffer>): void;
}

/** The calls that are open. */
export class GadgetCalls {
  readonly #open = new OwnMap<number, OpenCall>();
  readonly #context: WorkContext<OpenCall>;

  constructor() {
    this.#context = workContext({ isValue: OpenCall.isOne, otherwise: () => this.#onlyOne() });
  }

  /** The call that the work belongs to which asks now; it may be over. */
  current(): OpenCall | undefined {
    return this.#context.current();
  }

  call(message: Message<"call">, around: CallSurroundings): void {
    this.#begin(message.id, around, async (call) => {
      const { gadget } = around;
      const checked = gadget.schema === undefined
        ? { value: message.input }
        : await gadget.schema.validate(message.input);
      if (call.state !== "open") return;
      if ("issues" in checked) {
        return this.#end(call, around, "invalid", `"issues":${quote(cut(checked.issues, MOST_ISSUES))}`);
      }
      const context = callContext(message, checked.value, { call, around });
      const { run } = gadget;
      const given = run === undefined ? undefined : await apply(run, gadget.self, [checked.value, context]);
      if (call.state !== "open") return;
      if (isStream(given)) return await this.#stream(given, call, around);
      this.#result(call, around, given);
    });
  }

  format(message: Message<"format">, around: CallSurroundings): void {
    this.#begin(message.id, around, (call) => {
      const { format, self } = around.gadget;
      const text = format === undefined ? undefined : apply(format, self, [message.result, message.call]);
      if (typeof text === "string") return this.#result(call, around, text);
      throw new OwnTypeError(
        `format of ${quote(message.call.gadgetName)} must return a string, found ${foundValue(text)}`,
      );
    });
  }

  /** Answers at once; the gadget is told too, and what it does then is its own affair. */
  cancel(id: number, reason: string, around: CallSurroundings): OpenCall | undefined {
    const call = mapGet(this.#open, id);
    if (call === undefined) return undefined;
    this.#close(call);
    around.send(frameOf(`{"type":"cancelled","id":${id}}`));
    this.#context.within(call, () => call.cancel(reason));
    return call;
  }

  more(id: number, count: number): void {
    mapGet(this.#open, id)?.addRoom(count);
  }

  #begin(id: number, around: CallSurroundings, work: (call: OpenCall) => void | Promise<void>): void {
    const call = new OpenCall(id);
    around.telling.begin();
    mapSet(this.#open, id, call);
    this.#context.within(call, () => void this.#guarded(call, around, work));
    later(() => {
      if (call.state === "open") around.send(frameOf(`{"type":"begun","id":${id}}`));
    });
  }

  async #guarded(
    call: OpenCall,
    around: CallSurroundings,
    work: (call: OpenCall) => void | Promise<void>,
  ): Promise<void> {
    try {
      await work(call);
    } catch (error) {
      if (call.state === "open") {
        this.#end(call, around, "error", `"error":${thrownText(thrownError(error))}`);
      }
    }
  }

  async #stream(stream: AsyncIterable<unknown>, call: OpenCall, around: CallSurroundings): Promise<void> {
    const { gadget, send } = around;
    await sendPieces(stream, {
      call,
      gadgetName: gadget.name,
      send: (text) => send(frameOf(`{"type":"piece","id":${call.id},"text":${quote(text)}}`)),
    });
    if (call.state === "open") this.#end(call, around, "result");
  }

  /** @throws {ResultError} when it is no JSON */
  #result(call: OpenCall, around: CallSurroundings, given: unknown): void {
    const { gadget, maxResultBytes } = around;
    const frame = resultFrame(given, { id: call.id, gadgetName: gadget.name, maxResultBytes });
    if (call.state === "open") this.#endWith(call, around, frame); // a `toJSON` may take its time
  }

  #end(call: OpenCall, around: CallSurroundings, type: Ending, field?: string): void {
    const further = field === undefined ? "" : `,${field}`;
    this.#endWith(call, around, frameOf(`{"type":"${type}","id":${call.id}${further}}`));
  }

  #endWith(call: OpenCall, around: CallSurroundings, frame: Uint8Array<ArrayBuffer>): void {
    this.#close(call);
    around.telling.finish(call);
    call.end();
    around.send(frame);
  }

  #close(call: OpenCall): void {
    mapDelete(this.#open, call.id);
  }

  #onlyOne(): OpenCall | undefined {
    let count = 0;
    let last: OpenCall | undefined;
    mapEach(this.#open, (call) => {
      count++;
      last = call;
    });
    return count === 1 ? last : undefined;
  }
}

/** What `run` gets besides its input. */
function callContext(
  message: Message<"call">,
  input: unknown,
  { call, around }: { readonly call: OpenCall; readonly around: CallSurroundings },
): object {
  const { invocationId, dependencies, call: { gadgetName } } = message;
  return {
    signal: call.signal,
    invocationId,
    dependencies,
    call: {
      gadgetName,
      invocationId: message.call.invocationId,
      parameters: isParameters(input) ? input : {},
    },
    log: (text: unknown) => around.telling.log(toText(text), call),
    progress: (done: unknown, total?: unknown) => {
      if (isNumber(done) && (total === undefined || isNumber(total))) {
        return around.telling.progress(call, done, total);
      }
      throw new OwnTypeError(
        `progress(done, total?) takes finite numbers; found ${toText(done)}, ${toText(total)}`,
      );
    },
  };
}

function isNumber(value: unknown): value is number {
  return isFinite(value);
}

function isParameters(value: unknown): value is object {
  return typeof value === "object" && value !== null && !isArray(value);
}
