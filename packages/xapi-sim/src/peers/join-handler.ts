import type {
  HandlerContext,
  HandlerRequest,
  HandlerResponse,
  HttpHandler,
} from "../http-handler.js";
import { XapiFailure } from "../xapi-failure.js";
import type { HostPayload } from "./host-payload.js";
import { receiveHost } from "./receive-host.js";
import { assertCanJoin, type JoiningHost } from "./join-checks.js";
import { LineChannel } from "./line-channel.js";

/** Data that a joining host sends. */
interface JoinRequest {
  readonly joiningHost: JoiningHost;
  readonly payload: HostPayload;
  /** `host:port` at which it listens. */
  readonly address: string;
}

/**
 * The endpoint at which another simulator's host joins this pool; the channel
 * stays open, to notify the member of a new coordinator or of its ejection.
 */
export const joinHandlers: readonly HttpHandler[] = [
  {
    name: "connect_remotecmd",
    method: "CONNECT",
    path: "/remote_db_access",
    taskless: true,
    handle: welcome,
  },
];

async function welcome(
  _: HandlerRequest,
  response: HandlerResponse,
  { db, state, pool, hostRef }: HandlerContext,
): Promise<void> {
  const channel = new LineChannel(response.raw("HTTP/1.1 200 OK\r\n\r\n"));
  const request = (await channel.receive()) as unknown as
    | JoinRequest
    | undefined;
  if (request === undefined) return;
  try {
    const coordinator = pool.coordinatorRef();
    if (hostRef !== coordinator)
      throw new XapiFailure("HOST_IS_SLAVE", [
        new URL(pool.urlOf(coordinator)).host,
      ]);
    assertCanJoin(db, request.joiningHost);
    const host = receiveHost(db, request.payload, request.address);
    state.joinedHosts.set(host, channel);
    channel.send({ host });
  } catch (error) {
    const isXapiFailure = error instanceof XapiFailure;
    channel.send({
      error: isXapiFailure ? error.code : "INTERNAL_ERROR",
      params: isXapiFailure ? error.params : [String(error)],
    });
  }
}
