import { CallQueue } from "./call-queue.js";
import { Caller } from "./caller.js";
import { Candidates } from "./candidates.js";
import { TokenOrigins } from "./event-token.js";
import { ConnectionPool } from "./http/connection-pool.js";
import type { DialOptions } from "./http/dial.js";
import { Login } from "./login.js";
import type { XapiOptions } from "./options.js";
import { createPlainDecoder } from "./plain-decoder.js";
import { Rpc } from "./rpc.js";
import { Secrets } from "./secrets.js";
import { Session, type Connected } from "./session.js";
import { toSettings } from "./settings.js";
import { TransportChoice } from "./transport-choice.js";

export type Parts = ReturnType<typeof createParts>;

let clients = 0;

/** Makes the parts of a client and connects them. */
export function createParts(
  options: XapiOptions,
  onConnected: (connected: Connected) => void,
) {
  const settings = toSettings(options);
  const { hosts, clock, random, backoff } = settings;
  const label = `${options.user}@${hosts[0]?.host ?? "nowhere"}`;
  const secrets = new Secrets();
  secrets.add(options.password);
  if (settings.proxy?.authorization !== undefined)
    secrets.add(settings.proxy.authorization.replace("Basic ", ""));
  const logger = secrets.guard(settings.logger);
  const dialing: DialOptions = {
    trust: settings.trust,
    proxy: settings.proxy,
    connectTimeoutMs: settings.connectTimeoutMs,
    clock,
  };
  const connections = new ConnectionPool(dialing, settings.maxConcurrentCalls);
  const ownDecoder =
    options.decoder === undefined ? createPlainDecoder() : undefined;
  const rpc = new Rpc(connections, {
    decoder: options.decoder ?? ownDecoder!,
    clock,
    maxBodyBytes: settings.maxBodyBytes,
    lane: `${label}#${++clients}`,
  });
  const candidates = new Candidates(hosts);
  const login = new Login({
    ...{ rpc, secrets, logger, label },
    choice: new TransportChoice(settings.transport),
    user: options.user,
    password: options.password,
    originator: settings.originator,
    timeoutMs: settings.connectTimeoutMs,
  });
  const session = new Session({
    ...{
      login,
      candidates,
      backoff,
      clock,
      random,
      logger,
      label,
      onConnected,
    },
  });
  const queue = new CallQueue(
    label,
    settings.maxConcurrentCalls,
    settings.maxQueuedCalls,
  );
  const caller = new Caller({ session, rpc, queue, clock });
  const origins = new TokenOrigins();
  return {
    settings,
    label,
    secrets,
    logger,
    dialing,
    connections,
    candidates,
    session,
    caller,
    origins,
  };
}
