// The process of a gadget: started with this module under `deno run`; in the binary the program's own first look does it (lib/cli/main.ts).
// It has no rights of its own: whatever the gadget wants done outside is asked of Orrery. It is not defended against the gadget: what a gadget
// does to the language around it breaks its own calls, and what it says in this process's place is checked by Orrery like all else. Two things
// hold against everything: no permission is left, and only modules that were prepared for this gadget are imported (door.ts, harden.ts).

import type { Effects, FromGadget, ToGadget } from "../../core/gadget_message.ts";
import type { Json } from "../../core/json.ts";
import { GadgetCalls, type Surroundings } from "./calls.ts";
import { endWith, GadgetChannel, readGreeting } from "./channel.ts";
import { describeGadget } from "./describe.ts";
import { gadgetDoor, importModule } from "./door.ts";
import { AskedEffects } from "./effects.ts";
import { makeFacades as ownFacades } from "./facade/facade.ts";
import { giveUpPermissions, harden } from "./harden.ts";
import { loadNodeParts, type NodeParts, redirectConsole } from "./node_parts.ts";
import { thrownError, uncaughtText } from "./thrown.ts";

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
    return endWith("error: this command is for Orrery itself, which starts it where it is needed");
  }
  const channel = await GadgetChannel.open(greeting);
  const served = new ServedGadget(channel, makeFacades);
  return await channel.receive((message, bytes) => {
    try {
      served.take(message, bytes);
    } catch (error) {
      endWith(uncaughtText(error, "error: the process of the gadget is broken"));
    }
  });
}

type Load = Extract<ToGadget, { readonly type: "load" }>;

/** More names than this are told as all of them. */
const MOST_USED = 1_000;
const MOST_NAME = 256;

class ServedGadget {
  readonly #channel: GadgetChannel;
  readonly #makeFacades: MakeFacades;
  readonly #calls: GadgetCalls;
  readonly #used = new Set<string>();
  #effects: AskedEffects | undefined;
  #around: Surroundings | undefined;
  #isLoaded = false;

  constructor(channel: GadgetChannel, makeFacades: MakeFacades) {
    this.#channel = channel;
    this.#makeFacades = makeFacades;
    this.#calls = new GadgetCalls(channel);
  }

  take(message: ToGadget, bytes: Uint8Array): void {
    switch (message.type) {
      case "load":
        if (this.#isLoaded) return; // the gadget may say so itself: what it names would be imported unjudged
        this.#isLoaded = true;
        void this.#load(message);
        return;
      case "effect-done":
        return this.#effects?.done(message.effect, message.ok, bytes);
      case "effect-failed":
        return this.#effects?.failed(message.effect, message.error);
      case "more":
        return this.#calls.more(message.id, message.count);
      case "cancel": {
        const call = this.#calls.cancel(message.id, message.reason);
        if (call !== undefined) this.#effects?.giveUp(call);
        return;
      }
      case "call":
        return this.#around && this.#calls.call(message, this.#around);
      case "format":
        return this.#around && this.#calls.format(message, this.#around);
      default:
        return message satisfies never;
    }
  }

  async #load(message: Load): Promise<void> {
    const { maxFrameBytes, maxResultBytes } = message;
    this.#prepare(message, await loadNodeParts(message));
    try {
      const exported = await importModule(message.entry);
      const gadget = describeGadget(defaultOf(exported));
      const loaded: FromGadget = { type: "loaded", gadget: gadget.description };
      this.#around = { gadget, maxResultBytes };
      this.#channel.send(loaded, { maxBytes: maxFrameBytes, what: "what the gadget says of itself" });
    } catch (error) {
      this.#channel.send({ type: "load-failed", error: thrownError(error) });
    }
  }

  /** The last that happens before code of the gadget's runs. */
  #prepare({ root, env, sys, modules, maxFrameBytes }: Load, node: NodeParts | undefined): void {
    const effects = new AskedEffects({
      channel: this.#channel,
      current: () => this.#calls.current(),
      maxFrameBytes,
    });
    this.#effects = effects;
    giveUpPermissions();
    const log = (text: string): void => this.#calls.log(text);
    const facades = this.#makeFacades(effects, {
      root,
      env,
      sys,
      log,
      used: (kind, name) => this.#tellUsed(kind, name),
    });
    this.#logLateErrors();
    redirectConsole(facades.globals);
    node?.become(facades.globals);
    harden(facades.globals, gadgetDoor(modules, facades.modules));
  }

  /** @param name `*` for all of them */
  #tellUsed(kind: "env" | "sys", name: string): void {
    const wanted = this.#used.size < MOST_USED && name.length <= MOST_NAME ? name : "*";
    const key = `${kind} ${wanted}`;
    if (this.#used.has(key)) return;
    this.#used.add(key);
    this.#channel.send({ type: "used", kind, name: wanted });
  }

  /** What is thrown where nobody waits for it must not end the process: other calls are on. */
  #logLateErrors(): void {
    const tell = (event: Event, thrown: unknown, how: string): void => {
      event.preventDefault();
      this.#calls.log(uncaughtText(thrown, how));
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

if (import.meta.main) await serveGadget();
