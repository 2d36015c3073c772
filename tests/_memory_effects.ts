import type { Json } from "../mod.ts";
import type { EffectFailure, EffectOp, EffectReply, Effects } from "../lib/core/gadget_message.ts";
import { dirname, resolve } from "node:path";

type Op<Kind extends EffectOp["kind"]> = Extract<EffectOp, { readonly kind: Kind }>;
type Reply = { readonly ok?: Json; readonly bytes?: Uint8Array } | EffectFailure;

/** What answers effects at once, over files in memory: what Orrery does, for tests of what is inside a process. */
export class MemoryEffects implements Effects {
  /** By absolute path: bytes, or undefined for a folder. */
  readonly entries = new Map<string, Uint8Array | undefined>([["/", undefined], ["/project", undefined]]);
  /** Everything that was asked for. */
  readonly asked: EffectOp[] = [];
  /** Paths that may not be touched. */
  refused: RegExp | undefined;
  fetched: (op: Op<"fetch">, bytes: Uint8Array) => Reply = () => failure("other", "no network");
  ran: (op: Op<"run">, bytes: Uint8Array) => Reply = () => failure("not-found", "no such program");

  constructor(files: Readonly<Record<string, string>> = {}) {
    for (const [path, text] of Object.entries(files)) {
      this.#makeFolders(dirname(at(path)));
      this.entries.set(at(path), new TextEncoder().encode(text));
    }
  }

  text(path: string): string | undefined {
    const bytes = this.entries.get(at(path));
    return bytes && new TextDecoder().decode(bytes);
  }

  async ask(
    op: EffectOp,
    options: { readonly bytes?: Uint8Array; readonly signal?: AbortSignal } = {},
  ): Promise<EffectReply> {
    const { signal } = options;
    if (op.kind === "fetch" && op.url.endsWith("/slow")) {
      await new Promise((done) => signal?.addEventListener("abort", done));
    }
    await undefined;
    if (signal?.aborted) return { error: failure("aborted", "The operation was aborted"), effect: 1 };
    return this.askSync(op, options);
  }

  askSync(op: EffectOp, { bytes = new Uint8Array() }: { readonly bytes?: Uint8Array } = {}): EffectReply {
    this.asked.push(JSON.parse(JSON.stringify(op)));
    const effect = this.asked.length;
    const paths = [..."path" in op ? [op.path] : [], ..."to" in op ? [op.to] : []];
    const refused = paths.find((path) => this.refused?.test(at(path)));
    const reply = refused === undefined ? this.#reply(op, bytes) : failure(
      "refused",
      `Reading ${JSON.stringify(refused)} is not allowed: add --allow-gadget Test=read:${refused}`,
    );
    if ("code" in reply) return { error: reply, effect };
    return { ok: reply.ok ?? null, bytes: reply.bytes ?? new Uint8Array() };
  }

  #reply(op: EffectOp, bytes: Uint8Array): Reply {
    switch (op.kind) {
      case "read": {
        const found = this.entries.get(at(op.path));
        return found === undefined ? this.#missing(op.path, "read") : { bytes: found.slice() };
      }
      case "write":
        return this.#write(op, bytes);
      case "stat":
        if (!this.entries.has(at(op.path))) return this.#missing(op.path, "look at");
        return { ok: { kind: this.#kind(at(op.path)), size: this.#size(op.path), modifiedMs: 86_400_000 } };
      case "list": {
        const folder = at(op.path);
        if (!this.entries.has(folder)) return this.#missing(op.path, "list");
        if (this.#kind(folder) === "file") {
          return failure("not-folder", `Cannot list "${op.path}": it is a file`);
        }
        return {
          ok: this.#children(folder).map((path) => [path.slice(folder.length + 1), this.#kind(path)]),
        };
      }
      case "make-folder":
        if (this.entries.has(at(op.path))) {
          const isFine = op.isRecursive && this.#kind(at(op.path)) === "folder";
          return isFine ? {} : failure("exists", `Cannot make the folder "${op.path}"`);
        }
        if (!op.isRecursive && !this.entries.has(dirname(at(op.path)))) return this.#missing(op.path, "make");
        this.#makeFolders(at(op.path));
        return {};
      case "remove":
        if (!this.entries.has(at(op.path))) return this.#missing(op.path, "remove");
        if (!op.isRecursive && this.#children(at(op.path)).length > 0) {
          return failure("not-empty", `Cannot remove "${op.path}": the folder is not empty`);
        }
        for (const path of this.#below(at(op.path))) this.entries.delete(path);
        return {};
      case "rename":
        if (!this.entries.has(at(op.path))) return this.#missing(op.path, "rename");
        for (const path of this.#below(at(op.path))) {
          this.entries.set(at(op.to) + path.slice(at(op.path).length), this.entries.get(path));
          this.entries.delete(path);
        }
        return {};
      case "copy": {
        const found = this.entries.get(at(op.path));
        if (found === undefined) return this.#missing(op.path, "copy");
        this.entries.set(at(op.to), found.slice());
        return {};
      }
      case "real-path":
        return this.entries.has(at(op.path)) ? { ok: at(op.path) } : this.#missing(op.path, "find");
      case "fetch":
        return this.fetched(op, bytes);
      case "run":
        return this.ran(op, bytes);
      default:
        return op satisfies never;
    }
  }

  #write({ path, how }: Op<"write">, bytes: Uint8Array): Reply {
    const target = at(path);
    if (!this.entries.has(dirname(target))) return this.#missing(path, "write");
    const before = this.entries.get(target);
    if (this.entries.has(target) && before === undefined) return this.#missing(path, "write");
    if (how === "create" && before !== undefined) {
      return failure("exists", `Cannot create "${path}": it is there`);
    }
    this.entries.set(target, how === "append" ? new Uint8Array([...before ?? [], ...bytes]) : bytes.slice());
    return {};
  }

  #missing(path: string, action: string): EffectFailure {
    return this.entries.has(at(path))
      ? failure("is-folder", `Cannot ${action} "${path}": it is a folder, not a file`)
      : failure("not-found", `Cannot ${action} "${path}": no such file`);
  }

  #kind(path: string): "file" | "folder" {
    return this.entries.get(path) === undefined ? "folder" : "file";
  }

  #size(path: string): number {
    return this.entries.get(at(path))?.length ?? 0;
  }

  #children(folder: string): readonly string[] {
    return [...this.entries.keys()].filter((path) => path !== folder && dirname(path) === folder).sort();
  }

  #below(top: string): readonly string[] {
    return [...this.entries.keys()].filter((path) => path === top || path.startsWith(`${top}/`));
  }

  #makeFolders(folder: string): void {
    for (let path = folder; !this.entries.has(path); path = dirname(path)) this.entries.set(path, undefined);
  }
}

function at(path: string): string {
  return resolve("/project", path);
}

/** An effect that came to nothing. */
export function failure(code: EffectFailure["code"], message: string): EffectFailure {
  return { code, message };
}
