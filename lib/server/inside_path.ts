import { HttpProblem } from "./problem.ts";

/**
 * A path below the project root, as it was given. Whether the file is there, and where it really lies, is for the service; this is said of
 * what can never be one, in the same words for every file.
 *
 * @throws {HttpProblem} 403 `outside`
 */
export function insidePath(path: string): string {
  const parts = path.split("/");
  const isOutside = parts.some((part) => part === "" || part === "." || part === "..") ||
    hasControl(path) ||
    path.includes("\\") || DRIVE.test(path) || HIDDEN.test(path);
  if (isOutside) throw outside();
  return path;
}

/** Whether a control character is in it, NUL first of all. */
export function hasControl(text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit < 0x20 || unit === 0x7f) return true;
  }
  return false;
}

const DRIVE = /^[A-Za-z]:/;
const HIDDEN = /^\.(?:orrery|git)(?:\/|$)/i;

function outside(): HttpProblem {
  return new HttpProblem(403, "outside", {
    detail:
      "found a path that is not one of the project, expected one below its root, with / and without . and ..",
  });
}
