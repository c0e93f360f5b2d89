import type {
  HandlerContext,
  HandlerRequest,
  HandlerResponse,
  HttpHandler,
} from "../http-handler.js";
import { flag, map, refs, text } from "../records/fields.js";
import { RfbServer } from "./rfb-server.js";
import { runTerminal } from "./terminal.js";

export const consoleHandlers: readonly HttpHandler[] = [
  {
    name: "connect_console",
    method: "CONNECT",
    path: "/console",
    taskless: true,
    handle: connectConsole,
  },
  // The WebSocket endpoint needs a proxy on the host that is not simulated.
  {
    name: "get_console",
    method: "GET",
    path: "/console",
    taskless: true,
    handle: (_, response) => {
      response.crash("Console.Failure");
    },
  },
];

async function connectConsole(
  request: HandlerRequest,
  response: HandlerResponse,
  context: HandlerContext,
): Promise<void> {
  if (usesBasicOnly(request)) {
    // The handler reads the session from the request itself [rec console-connect-basic].
    response.crash(
      'Db_exn.DBCache_NotFound("missing row", "session", "OpaqueRef:NULL")',
    );
    return;
  }
  const found = findConsole(request, context);
  if (found === undefined) {
    response.crash("Console.Failure");
    return;
  }
  const holder = context.state.consoleUsers.get(found.console);
  if (holder !== undefined && limitsSessions(context)) {
    refuse(response, { user: holder, vm: found.vm });
    return;
  }
  await serve(response, context, found);
}

interface FoundConsole {
  readonly console: string;
  readonly vm: string;
}

function usesBasicOnly({ headers, query }: HandlerRequest): boolean {
  const cookie = headers.get("cookie") ?? "";
  return (
    headers.has("authorization") &&
    !query.has("session_id") &&
    !cookie.includes("session_id")
  );
}

/**
 * Finds a console by `ref` (of a console or a VM) or `uuid` (of a VM or a console); only of a
 * VM that runs on this host.
 */
function findConsole(
  { query }: HandlerRequest,
  context: HandlerContext,
): FoundConsole | undefined {
  const { db } = context;
  const uuid = query.get("uuid");
  const ref =
    query.get("ref") ??
    (uuid === null
      ? undefined
      : (db.byUuid("VM", uuid) ?? db.byUuid("console", uuid)));
  if (ref === undefined) return undefined;
  const console =
    db.find("console", ref) === undefined ? screenOf(context, ref) : ref;
  if (console === undefined) return undefined;
  const vm = text(db.get("console", console), "VM");
  return isHere(context, vm) ? { console, vm } : undefined;
}

function screenOf({ db }: HandlerContext, vm: string): string | undefined {
  const record = db.find("VM", vm);
  if (record === undefined) return undefined;
  return refs(record, "consoles").find(
    (ref) => text(db.get("console", ref), "protocol") === "rfb",
  );
}

/** The consoles of a host without a listener are served by the member that receives the request. */
function isHere({ db, hostRef, pool }: HandlerContext, vm: string): boolean {
  const record = db.get("VM", vm);
  const host = text(record, "resident_on");
  return (
    text(record, "power_state") === "Running" &&
    (host === hostRef || pool.addressOf(host) === undefined)
  );
}

function limitsSessions({ db, pool }: HandlerContext): boolean {
  return flag(db.get("pool", pool.poolRef), "limit_console_sessions");
}

/** The page of the recording, with a status line that no other answer has. */
function refuse(
  response: HandlerResponse,
  { user, vm }: { user: string; vm: string },
): void {
  const page =
    "<html><body><h1>Connection Limit Exceeded</h1><p>" +
    `User '${user}' is currently connected to this console (VM ${vm}). ` +
    "No more connections are allowed when limit_console_sessions is enabled.</p></body></html>";
  response
    .raw(
      "HTTP/1.0 503 Connection Limit Exceeded\r\n" +
        `content-length: ${page.length}\r\ncontent-type: text/html\r\nconnection: close\r\ncache-control: no-cache, no-store\r\n\r\n${page}`,
    )
    .end();
}

/** `fast` in a VM's other_config: its screen is sent whole at every request. */
const EAGER = "sim:console";

async function serve(
  response: HandlerResponse,
  context: HandlerContext,
  found: FoundConsole,
): Promise<void> {
  const { db, clock, session } = context;
  const vm = db.get("VM", found.vm);
  const guest = {
    uuid: text(vm, "uuid"),
    name: text(vm, "name_label"),
    eager: map(vm, "other_config")[EAGER] === "fast",
  };
  const protocol = text(db.get("console", found.console), "protocol");
  const stream = response.raw(
    "HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nCache-Control: no-cache, no-store\r\n\r\n",
  );
  stream.on("error", () => stream.destroy());
  const users = context.state.consoleUsers;
  users.set(found.console, session.userName);
  // The console of a VM that shuts down, reboots elsewhere or moves ends.
  const stop = db.onChange(({ operation, ref }) => {
    if (operation === "del" && ref === found.console) stream.destroy();
  });
  try {
    await (protocol === "rfb"
      ? new RfbServer(stream, guest, clock).run()
      : runTerminal(stream, guest));
  } catch (error) {
    if (!stream.destroyed) throw error;
  } finally {
    stop();
    users.delete(found.console);
    stream.destroy();
  }
}
