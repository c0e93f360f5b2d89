import { version } from "../../../config/version.js";
import { describeActions } from "./describe-actions.js";
import { describeCollections } from "./describe-collections.js";
import { describeFixedRoutes } from "./describe-fixed-routes.js";
import { describeOperation } from "./describe-operation.js";
import { components, type Json } from "./parts.js";
import { shownPath, type RestOperation } from "../operations/rest-operation.js";
import { REST_ROOT } from "../routing/rest-path.js";

/** The OpenAPI 3.1 document, derived from the collections and the operations. */
export function createOpenApi(
  operations: readonly RestOperation[],
  hasActions: boolean,
): Json {
  return {
    openapi: "3.1.0",
    info: {
      title: "xo-server",
      version,
      description: "Manages pools of XenServer and XCP-ng.",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: REST_ROOT }],
    security: [{ token: [] }, { basic: [] }, { bearer: [] }],
    paths: describePaths(operations, hasActions),
    components,
  };
}

function describePaths(
  operations: readonly RestOperation[],
  hasActions: boolean,
): Json {
  const paths = new Map<string, Json>([
    ...describeCollections(),
    ...describeFixedRoutes(),
    ...(hasActions ? describeActions() : []),
  ]);
  for (const operation of operations) {
    const { method, isAction } = operation.rest;
    if (isAction === true && !hasActions) continue;
    const path = shownPath(operation.rest);
    const known = paths.get(path) ?? {};
    paths.set(path, { ...known, [method]: describeOperation(operation) });
  }
  return Object.fromEntries(
    [...paths].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)),
  );
}
