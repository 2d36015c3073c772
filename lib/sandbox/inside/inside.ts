// The process of a gadget: started with this module under `deno run`; in the binary the program's own first look does it
// (lib/cli/main.ts). It has no rights of its own: whatever the gadget wants done outside is asked of Orrery. Everything that it
// needs of the language and the runtime is taken before the gadget is loaded (gadget_primordials.ts).

import type { Effects, ToGadget } from "../../core/gadget_message.ts";
import type { Json } from "../../core/json.ts";
import { type CallSurroundings, GadgetCalls } from "./calls.ts";
import { endWith, GadgetChannel, readGreeting } from "./channel.ts";
import { describeGadget } from "./describe.ts";
import { gadgetDoor, importModule } from "./door.ts";
import { GadgetEffects } from "./effects.ts";
import { frameOf, type ReadFrame } from "./frames.ts";
import { giveUpPermissions, harden } from "./harden.ts";
import { loadNodeParts, type NodeParts, redirectConsole } from "./node_parts.ts";
import { apply, lengthOf, parseJson, quote, utf8 } from "./primordials.ts";
import { GadgetTelling } from "./tell.ts";
import { thrownError, thrownText, uncaughtText } from "./thrown.ts";
import { makeFacades as ownFacades } from "./facade/facade.ts";

/** Makes what a gadget finds in place of the runtime's own: `Deno`, `fetch`, `console` and so on. */
export type MakeFacades = (effects: Effects, options: {
  /** The project root: absolute. */
  readonly root: string;
  readonly env: Readonly<Record<string, string>>;
  /** What was granted of the system: `hostname` and so on, with their values. */
  readonly sys: Readonly<Record<string, Json>>;
  log(text: string): void;
  /** A variable or a fact of the system was asked for, `*` for all of them. */
  used(kind: "env" | "sys", name: string): void;
}) => {
  /** Set on the global object. */
  readonly globals: Readonly<Record<string, unknown>>;
  /** Exports by specifier. */
  readonly modules: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
};

/** Serves one gadget until the socket ends, which ends the process. @param makeFacades another one's, for tests */
export async function serveGadget(makeFacades: MakeFacades = ownFacades): Promise<never> {
  const greeting = readGreeting();
  if (greeting === undefined) {
    return endWith("error: this command is for Orrery itself, which starts it where it is needed", utf8);
  }
  const channel = await GadgetChannel.open(greeting.at);
  channel.send(frameOf(`{"type":"hello","token":${quote(greeting.token)}}`));
  const served = new ServedGadget(channel, makeFacades);
  return await channel.receive((frame) => {
    try {
      served.take(frame);
    } catch (error) {
      endWith(uncaughtText(error, "error: the process of the gadget is broken"), utf8);
    }
  });
}

type Load = Extract<ToGadget, { readonly type: "load" }>;

class ServedGadget {
  readonly #channel: GadgetChannel;
  readonly #makeFacades: MakeFacades;
  readonly #calls = new GadgetCalls();
  readonly #telling: GadgetTelling;
  #effects: GadgetEffects | undefined;
  #around: CallSurroundings | undefined;

  constructor(channel: GadgetChannel, makeFacades: MakeFacades) {
    this.#channel = channel;
    this.#makeFacades = makeFacades;
    this.#telling = new GadgetTelling(channel);
  }

  take({ text, bytes }: ReadFrame): void {
    const message: ToGadget = parseJson(text); // Orrery says nothing else
    switch (message.type) {
      case "load":
        void this.#load(message);
        return;
      case "effect-done":
        return this.#effects?.done(message.effect, message.ok, bytes);
      case "effect-failed":
        return this.#effects?.failed(message.effect, message.error);
      default:
        if (this.#around !== undefined) this.#takeCall(message, this.#around);
    }
  }

  #takeCall(
    message: Extract<ToGadget, { readonly type: "call" | "format" | "cancel" | "more" }>,
    around: CallSurroundings,
  ): void {
    switch (message.type) {
      case "call":
        return this.#calls.call(message, around);
      case "format":
        return this.#calls.format(message, around);
      case "more":
        return this.#calls.more(message.id, message.count);
      case "cancel": {
        const call = this.#calls.cancel(message.id, message.reason, around);
        if (call !== undefined) this.#effects?.giveUp(call);
        return;
      }
      default:
        return message satisfies never;
    }
  }

  async #load(message: Load): Promise<void> {
    const { maxFrameBytes, maxResultBytes } = message;
    const send = (frame: Uint8Array<ArrayBuffer>): void => this.#channel.send(frame);
    this.#prepare(message, await loadNodeParts(message));
    try {
      const exported = await importModule(message.entry);
      const gadget = describeGadget(defaultOf(exported));
      const frame = frameOf(`{"type":"loaded","gadget":${gadget.description}}`);
      if (lengthOf(frame) > maxFrameBytes) throw new RangeError(tooLong(lengthOf(frame), maxFrameBytes));
      this.#around = { gadget, telling: this.#telling, maxResultBytes, send };
      send(frame);
    } catch (error) {
      send(frameOf(`{"type":"load-failed","error":${thrownText(thrownError(error))}}`));
    }
  }

  /** The last that happens before code of the gadget's runs. */
  #prepare({ root, env, sys, modules, maxFrameBytes }: Load, node: NodeParts | undefined): void {
    const effects = new GadgetEffects({
      send: (frame) => this.#channel.send(frame),
      current: () => this.#calls.current(),
      maxFrameBytes,
    });
    this.#effects = effects;
    giveUpPermissions();
    const log = (text: string): void => this.#telling.log(text, this.#calls.current());
    const used = (kind: "env" | "sys", name: string): void => this.#telling.used(kind, name);
    const facades = this.#makeFacades(effects, { root, env, sys, log, used });
    this.#logLateErrors();
    redirectConsole(facades.globals);
    node?.become(facades.globals);
    harden(facades.globals, gadgetDoor(modules, facades.modules));
  }

  /** What is thrown where nobody waits for it must not end the process: other calls are on. */
  #logLateErrors(): void {
    const { preventDefault } = Event.prototype;
    const tell = (event: Event, thrown: unknown, how: string): void => {
      apply(preventDefault, event, []);
      this.#telling.log(uncaughtText(thrown, how), this.#calls.current());
    };
    addEventListener("unhandledrejection", (event) => tell(event, event.reason, "Uncaught (in promise)"));
    addEventListener("error", (event) => tell(event, event.error, "Uncaught"));
  }
}

function defaultOf(exported: unknown): unknown {
  return typeof exported === "object" && exported !== null && "default" in exported
    ? exported.default
    : undefined;
}

function tooLong(found: number, most: number): string {
  return `what the gadget says of itself takes ${found} bytes, expected at most ${most}`;
}

if (import.meta.main) await serveGadget();
