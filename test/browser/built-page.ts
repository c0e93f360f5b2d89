import { existsSync } from "node:fs";
import { join } from "node:path";
import type { BrowserContext } from "playwright-core";
import { webRoot } from "./chromium.js";

/**
 * A page of a real server, with the files of WEB_ROOT if it is set: during
 * development, `npx vite build --outDir` writes them to another folder.
 */
export async function serveBuilt(
  context: BrowserContext,
  url: string,
): Promise<void> {
  if (process.env["WEB_ROOT"] === undefined) return;
  const { headers } = await fetch(url);
  // Chromium treats such files as coming from another network.
  await context.grantPermissions(["local-network-access"]);
  const policy = headers.get("content-security-policy") ?? "";
  await context.route(
    (requested) => requested.href.startsWith(url) && isFile(requested.pathname),
    (route) => {
      const { pathname } = new URL(route.request().url());
      return route.fulfill({
        path: fileOf(pathname),
        headers: { "content-security-policy": policy },
      });
    },
  );
}

function fileOf(pathname: string): string {
  return join(webRoot, pathname === "/" ? "index.html" : pathname);
}

function isFile(pathname: string): boolean {
  return !/^\/(api|rest)\b/.test(pathname) && existsSync(fileOf(pathname));
}
