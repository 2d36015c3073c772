/// <reference lib="dom" />

// Light or dark, as the reader says; a cookie keeps it, so that the server makes the next page in it and nothing flashes.

import { findAll } from "./dom.ts";

const COOKIE = "orrery_theme";
const YEAR_S = 31_536_000;

type Theme = "light" | "dark";

const root = document.documentElement;

function shown(): Theme {
  if (root.dataset.theme === "dark" || root.dataset.theme === "light") return root.dataset.theme;
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

function other(theme: Theme): Theme {
  return theme === "dark" ? "light" : "dark";
}

/** Shows the other one from now on. */
export function switchTheme(): void {
  const theme = other(shown());
  root.dataset.theme = theme;
  document.cookie = `${COOKIE}=${theme}; path=/; max-age=${YEAR_S}; samesite=strict`;
  label();
}

function label(): void {
  for (const button of findAll("[data-theme-button]", HTMLButtonElement)) {
    button.hidden = false;
    button.textContent = shown() === "dark" ? "Light" : "Dark";
    button.title = `Show the page ${button.textContent.toLowerCase()} (t)`;
  }
}

for (const button of findAll("[data-theme-button]", HTMLButtonElement)) {
  button.addEventListener("click", switchTheme);
}
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", label);
label();
