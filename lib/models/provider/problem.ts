import { ModelError, type ModelErrorCode, type ModelId } from "../../core/core.ts";
import type { Provider } from "./provider.ts";

/** Words for what goes wrong with one model of one provider. No message holds a key. */
export class ProviderProblem {
  readonly #model: string;
  readonly #provider: Provider;
  readonly #keyName: string | undefined;
  readonly #secrets: readonly { readonly name: string; readonly value: string }[];

  constructor(
    id: ModelId,
    options: {
      readonly provider: Provider;
      /** The variable of the key that is sent. */
      readonly keyName: string | undefined;
      /** What must not be seen. */
      readonly secrets: readonly { readonly name: string; readonly value: string }[];
    },
  ) {
    this.#model = `${id.provider}/${id.model}`;
    this.#provider = options.provider;
    this.#keyName = options.keyName;
    this.#secrets = [...options.secrets].sort((a, b) => b.value.length - a.value.length); // one may hold another
  }

  /** A model error that names model and host, says what came, and what to do. */
  error(
    what: string,
    options: {
      readonly code: ModelErrorCode;
      readonly status?: number;
      readonly retryAfterMs?: number;
      readonly flag?: string;
      /** It had begun to answer: its address is right. */
      readonly hasBegun?: boolean;
    },
  ): ModelError {
    const { code, status, retryAfterMs, flag, hasBegun = false } = options;
    const advice = hasBegun ? "" : this.#advice(code, status);
    const text = this.mask(`${this.#model} at ${this.#host}: ${what}${advice}`);
    return new ModelError(text, {
      code,
      status,
      retryAfterMs,
      flag,
    });
  }

  /** The text without any of the secrets. */
  mask(text: string): string {
    return this.#secrets.reduce(
      (masked, { name, value }) => masked.replaceAll(value, `[secret ${name}]`),
      text,
    );
  }

  get #host(): string {
    return URL.parse(this.#provider.baseURL)?.host ?? this.#provider.baseURL;
  }

  #advice(code: ModelErrorCode, status: number | undefined): string {
    const address = this.#provider.urlFrom ?? `models.providers.${this.#provider.name}.baseURL`;
    switch (code) {
      case "auth":
        if (this.#keyName === undefined) {
          return `. No key was sent: name its variable in models.providers.${this.#provider.name}.apiKeyEnv`;
        }
        return status === 401
          ? `. Put a valid key into ${this.#keyName}`
          : `. Check the account of the key in ${this.#keyName}`;
      case "context":
        return ". Send less, or choose a model with a larger window";
      case "network":
        return this.#provider.urlFrom === undefined
          ? ""
          : `. Check that ${address} is right, and that the server is running`;
      case "answer":
        return `. Check ${address}: most of these addresses end in /v1`;
      case "request":
        return status === 404 ? `. Check the model's name, and ${address}` : "";
      default:
        return "";
    }
  }
}
