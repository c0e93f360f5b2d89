import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { PAGE_POLICY } from "../../http/security-headers.js";
import { createOpenApi } from "./open-api.js";
import type { RestOperation } from "../operations/rest-operation.js";
import { REST_ROOT } from "../routing/rest-path.js";
import type { RouteTable } from "../routing/route-table.js";

const DOCS = `${REST_ROOT}/docs`;

const files = [
  ["/docs", "index.html", "text/html; charset=utf-8"],
  ["/docs/page.js", "page.js", "text/javascript; charset=utf-8"],
  ["/docs/page.css", "page.css", "text/css; charset=utf-8"],
] as const;

/** The OpenAPI document, and a page that shows it, without external resources. */
export function addDocs(
  routes: RouteTable,
  operations: readonly RestOperation[],
  hasActions: boolean,
): void {
  // Built at the first request: it takes 20 ms and is rarely requested.
  let specification: string | undefined;
  routes.get("/", async (_request, reply) => reply.redirect(DOCS, 302));
  routes.get("/docs/swagger.json", async (_request, reply) =>
    reply
      .type("application/json; charset=utf-8")
      .send(
        (specification ??= JSON.stringify(
          createOpenApi(operations, hasActions),
        )),
      ),
  );
  for (const [path, file, type] of files) {
    routes.get(path, async (_request, reply) =>
      reply
        .header("content-security-policy", PAGE_POLICY)
        .type(type)
        .send(await readFile(join(folder(), file))),
    );
  }
}

function folder(): string {
  const require = createRequire(import.meta.url);
  const manifest = require.resolve("@xo-server/xo-server/package.json");
  return join(dirname(manifest), "rest-docs");
}
