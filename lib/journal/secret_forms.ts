/**
 * Every way a secret is looked for: raw, as part of JSON, as part of a URL or a form, and as one whole base64 value. Writers differ in what
 * they escape beside what they have to, and in the case of hexadecimal digits.
 */
export function secretForms(value: string): readonly string[] {
  const json = JSON.stringify(value).slice(1, -1);
  const url = encodeURIComponent(value.toWellFormed());
  const strictUrl = url.replace(/[!'()*]/g, percentEscape);
  const form = new URLSearchParams({ "": value }).toString().slice(1);
  return [
    ...new Set([
      value,
      json,
      json.replaceAll("/", "\\/"),
      json.replace(/[\u007f-\uffff]/g, unicodeEscape),
      ...[url, strictUrl, form].flatMap((text) => [text, text.replace(/%../g, (hex) => hex.toLowerCase())]),
      ...base64Forms(value),
    ]),
  ];
}

const percentEscape = (char: string): string => `%${char.charCodeAt(0).toString(16).toUpperCase()}`;

const unicodeEscape = (char: string): string => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`;

function base64Forms(value: string): readonly string[] {
  const bytes = new TextEncoder().encode(value);
  const padded = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
  return [padded, padded.replaceAll("+", "-").replaceAll("/", "_")].flatMap((
    text,
  ) => [text, text.replace(/=+$/, "")]);
}
