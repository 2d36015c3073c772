/** `provider` and `model` of an `@llm` as one name (documents.md 7.6); the model may begin with its provider already. */
export function modelOfProvider(model: string, provider: string | undefined): string {
  return provider === undefined || model.startsWith(`${provider}/`) ? model : `${provider}/${model}`;
}

/** What is said of a provider without a model. */
export function needsModel(provider: string): string {
  return `provider "${provider}" needs "model"`;
}
