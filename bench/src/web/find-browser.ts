import { existsSync } from "node:fs";

const places = [
  process.env["CHROMIUM"],
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/usr/bin/google-chrome-stable",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
];

/** A Chromium of this machine, or the one that CHROMIUM names; undefined: there is none. */
export function findBrowser(): string | undefined {
  return places.find((place) => place !== undefined && existsSync(place));
}
