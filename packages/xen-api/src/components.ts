import { setMaxListeners } from "node:events";
import type { Logger } from "@xo-server/kit";
import { CallQueue } from "./calls/call-queue.js";
import { CallExecutor } from "./calls/call-executor.js";
import { Candidates } from "./session/candidates.js";
import { discoverMembers } from "./discover-members.js";
import { EventPacing } from "./events/event-pacing.js";
import { TokenOrigins } from "./events/event-token.js";
import { ConnectionPool } from "./http/connection-pool.js";
import { Dialer } from "./http/dialer.js";
import type { ListingOptions } from "./calls/listing.js";
import { Login } from "./session/login.js";
import { MarkedTasks } from "./tasks/marked-tasks.js";
import type { XapiOptions } from "./options.js";
import { Rpc } from "./rpc/rpc.js";
import { Secrets } from "./secrets.js";
import { XapiSession, type Connected } from "./session/xapi-session.js";
import { toSettings, type Settings } from "./settings.js";
import { Streams } from "./streams.js";
import { TaskTracker } from "./tasks/task-tracker.js";
import { TransportChoice } from "./rpc/transport-choice.js";

export type XapiComponents = ReturnType<typeof createComponents>;

/** What all components share. */
interface SharedComponents {
  readonly settings: Settings;
  readonly label: string;
  readonly secrets: Secrets;
  readonly logger: Logger;
}

/** Creates the components of one client. @throws XoError CONFIG_INVALID */
export function createComponents(
  options: XapiOptions,
  onConnected: (connected: Connected) => void,
) {
  const settings = toSettings(options);
  const label = `${options.user}@${settings.hosts[0]?.host ?? "nowhere"}`;
  const secrets = knownSecrets(options, settings);
  const logger = secrets.maskingLogger(settings.logger);
  const shared: SharedComponents = { settings, label, secrets, logger };
  const { connections, dialer, rpc } = createRpc(shared, options);
  const candidates = new Candidates(settings.hosts, settings.members);
  const session = new XapiSession({
    ...settings,
    ...shared,
    candidates,
    login: createLogin(shared, rpc, options),
    onConnected,
  });
  const { clock, callTimeoutMs, maxConcurrentCalls, maxQueuedCalls } = settings;
  const queue = new CallQueue(label, maxConcurrentCalls, maxQueuedCalls);
  const patienceMs = settings.eventTimeoutMs + settings.eventGraceMs;
  const closing = new AbortController();
  // Each call whose result is unknown waits for it.
  setMaxListeners(0, closing.signal);
  const { unreachableMs } = settings;
  const sessionWait = { session, clock, label, unreachableMs };
  const executor = new CallExecutor({
    ...sessionWait,
    rpc,
    queue,
    patienceMs,
    closing: closing.signal,
    dialer,
  });
  const pacing = new EventPacing(clock);
  const marked = new MarkedTasks(executor);
  const isAuto = settings.transport === "auto";
  const listing: ListingOptions = {
    executor,
    logger,
    label,
    callTimeoutMs,
    isAuto,
  };
  const discovery = { executor, candidates, settings, session, logger, label };
  const discover = () => discoverMembers(discovery, options.onCandidates);
  return {
    ...shared,
    discover,
    connections,
    dialer,
    candidates,
    session,
    sessionWait,
    executor,
    listing,
    origins: new TokenOrigins(),
    pacing,
    marked,
    tasks: new TaskTracker({
      ...settings,
      ...shared,
      executor,
      pacing,
      marked,
    }),
    streams: new Streams(sessionWait, dialer, async (address) => {
      // The address may be that of a host that has just joined.
      if (!candidates.isKnown(address)) await discover();
      return candidates.isKnown(address);
    }),
    /** Aborted when the client is disconnected. */
    closing,
    counts: { eventAnswers: 0 },
  };
}

function knownSecrets(options: XapiOptions, { proxy }: Settings): Secrets {
  const secrets = new Secrets();
  secrets.add(options.password);
  if (proxy?.authorization !== undefined)
    secrets.add(proxy.authorization.replace("Basic ", ""));
  return secrets;
}

let createdClients = 0;

function createRpc(
  { settings, label, logger }: SharedComponents,
  { decoder }: XapiOptions,
) {
  const { clock, maxBodyBytes, maxValueBytes, maxConcurrentCalls } = settings;
  const dialer = new Dialer({ ...settings, logger, label });
  const connections = new ConnectionPool(dialer, clock, maxConcurrentCalls);
  const rpc = new Rpc(connections, {
    decoder,
    clock,
    maxBodyBytes,
    maxValueBytes,
    // Each client has its own lane in the parser pool, also two clients of one pool.
    lane: `${label}#${++createdClients}`,
  });
  return { connections, dialer, rpc };
}

function createLogin(
  shared: SharedComponents,
  rpc: Rpc,
  { user, password }: XapiOptions,
): Login {
  const { transport, originator, connectTimeoutMs, probeTimeoutMs, clock } =
    shared.settings;
  return new Login({
    ...shared,
    rpc,
    user,
    password,
    originator,
    choice: new TransportChoice(transport),
    // PAM on a busy host can be slow.
    timeoutMs: 3 * connectTimeoutMs,
    probeTimeoutMs,
    clock,
  });
}
