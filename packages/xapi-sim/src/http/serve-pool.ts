import { X509Certificate } from "node:crypto";
import { Dispatcher } from "../calls/dispatcher.js";
import type { Core } from "../calls/core.js";
import type { Membership } from "../membership.js";
import { coreMessages, httpHandlers, operations } from "../plugins.js";
import type { PoolOptions } from "../pool-options.js";
import { Connection } from "./connection.js";
import type { Control } from "./control.js";
import { HandlerServer } from "./handler-server.js";
import { RouteTable } from "./route-table.js";
import {
  jsonEndpoint,
  legacyJsonEndpoint,
  oldHostEndpoint,
  xmlEndpoint,
} from "./rpc-endpoints.js";
import { unservedHandlers } from "./unserved-handlers.js";

/** Starts responding on all members with a listener. */
export function servePool(
  options: PoolOptions,
  core: Core,
  at: {
    readonly membership: Membership;
    readonly control: Control;
    /** PEM, with TLS. */
    readonly certificate: string | undefined;
  },
): void {
  const table = { ...operations, ...options.operations };
  const dispatcher = new Dispatcher(core, table, coreMessages);
  const routes = makeRoutes(options);
  const handlers = new HandlerServer(core);
  const { membership, control, certificate } = at;
  for (const [hostRef, { listener }] of membership.listening()) {
    const context = {
      clock: core.clock,
      faults: core.faults,
      routes,
      dispatcher,
      handlers,
      control,
      hostRef,
      isSilent: () =>
        core.faults.isOn("silent") && membership.isSilenced(hostRef),
      thumbprint: fingerprintOf(certificate),
    };
    listener.serve((socket) => {
      if (membership.isUnreachable(hostRef)) socket.destroy();
      else new Connection(socket, context).run().catch(() => socket.destroy());
    });
  }
}

function fingerprintOf(certificate: string | undefined): string | undefined {
  return certificate === undefined
    ? undefined
    : new X509Certificate(certificate).fingerprint256;
}

function makeRoutes(options: PoolOptions): RouteTable {
  const routes = new RouteTable();
  routes.add("POST", "/", { kind: "rpc", endpoint: xmlEndpoint });
  routes.add("POST", "/json", {
    kind: "rpc",
    endpoint: options.legacyJson === true ? legacyJsonEndpoint : xmlEndpoint,
  });
  routes.add("POST", "/jsonrpc", {
    kind: "rpc",
    endpoint: options.noJsonRpc === true ? oldHostEndpoint : jsonEndpoint,
  });
  for (const method of ["GET", "POST"])
    routes.add(method, "/sim", { kind: "control" });
  const own = [...(options.httpHandlers ?? []), ...httpHandlers];
  for (const handler of [...own, ...unservedHandlers(own)])
    routes.add(handler.method, handler.path, { kind: "handler", handler });
  return routes;
}
