import {
  DEFAULT_EVENT_GRACE_MS,
  DEFAULT_EVENT_TIMEOUT_MS,
  DEFAULT_PROBE_TIMEOUT_MS,
  DEFAULT_THROTTLE_MS,
} from "@xo-server/xen-api";
import { AuditConfig } from "./audit-config.js";
import { AuthConfig } from "./auth-config.js";
import { Type, type Static } from "typebox";
import { logFormats, logLevels } from "../log/logger.js";
import { ActivityConfig } from "./activity-config.js";
import { bytes, count, milliseconds, section } from "./config-parts.js";
import { BackupConfig } from "./backup-config.js";
import { ConsoleConfig } from "./console-config.js";
import { HttpConfig } from "./http-config.js";
import { ImportConfig } from "./import-config.js";
import { JobConfig } from "./job-config.js";
import { LdapConfig } from "./ldap-config.js";
import { MailConfig } from "./mail-config.js";
import { OidcConfig } from "./oidc-config.js";
import { SamlConfig } from "./saml-config.js";
import { PoolConfig, transports } from "./pool-config.js";
import { ServerConfig } from "./server-config.js";
import { TelemetryConfig } from "./telemetry-config.js";

/**
 * Every key of the config with its default and description. config.yaml.example is
 * generated from this schema; a test compares the two.
 */

const MIB = 1024 * 1024;

const Log = section("Logging.", {
  format: Type.Enum(logFormats, {
    default: "console",
    description:
      "console (human-readable), json (one JSON object per line) or journal (for systemd: priority instead of time and level).",
  }),
  level: Type.Enum(logLevels, {
    default: "info",
    description: "Minimum level: debug, info, warn, error or silent.",
  }),
});

const Perf = section("Detection of event-loop blocks (log lines of xo:perf).", {
  thresholdMs: milliseconds(50, "Log blocks longer than this, in ms."),
  probeMs: milliseconds(
    20,
    "Interval of the timer that detects blocks, in ms.",
  ),
  traceBlocks: Type.Boolean({
    default: false,
    description:
      "Log the stack trace of a block. Expensive (async hooks): for debugging only.",
  }),
  watchdogMs: Type.Integer({
    default: 60_000,
    minimum: 0,
    maximum: 2 ** 31 - 1,
    description:
      "The process logs its stack and ends with exit code 75 when its event loop has been blocked for this time, in ms, so that a supervisor restarts it; 0: never. Inactive until a pool is connected, and while a debugger (node --inspect) can be attached.",
  }),
});

const ParserPool = section("Worker threads that parse responses of pools.", {
  place: Type.Enum(["auto", "worker", "main"], {
    default: "auto",
    description:
      "Where responses are parsed: auto (small ones on the main thread, others in a worker), worker (all in workers) or main (no workers, for comparison).",
  }),
  xml: Type.Enum(["reader", "expat", "xmlrpc"], {
    default: "reader",
    description:
      "XML parser: reader (built-in, fastest), expat (optional native package, main thread only) or xmlrpc (npm package, slow).",
  }),
  minThreads: Type.Integer({
    default: 1,
    minimum: 0,
    maximum: 256,
    description: "Number of idle threads that are kept.",
  }),
  maxThreads: Type.Integer({
    default: 0,
    minimum: 0,
    maximum: 256,
    description:
      "Maximum number of threads; 0: number of processors minus one.",
  }),
  idleTimeoutMs: milliseconds(
    30_000,
    "An idle thread ends after this time, in ms.",
  ),
  inlineBelowBytes: bytes(
    128 * 1024,
    "With place auto: responses smaller than this are parsed on the main thread, in bytes.",
    0,
  ),
  segmentBytes: bytes(
    MIB,
    "Size of the buffers in which large responses are read, in bytes.",
    4096,
  ),
  maxBodyBytes: bytes(
    0,
    "Maximum size of a response of a pool that lists objects, in bytes; 0: 1/16 of the memory, 128 to 1024 MiB. Other responses: 1/128 of the memory, 16 to 128 MiB, and never more than this.",
    0,
  ),
  maxDepth: count(512, "Maximum nesting of a response, in levels."),
  queueLimit: count(
    10_000,
    "Maximum number of buffers that wait for a thread.",
  ),
});

const Inventory = section("Mirror of the objects of all pools.", {
  recordCacheBytes: bytes(
    0,
    "Heap size of the cache of decoded records, in bytes; 0: 1/16 of the heap limit, 16 to 256 MiB.",
    0,
  ),
  viewCacheBytes: bytes(
    0,
    "Memory of the cache of encoded objects, in bytes; 0: 1/8 of the memory, 32 to 1024 MiB.",
    0,
  ),
  feedBytes: bytes(
    0,
    "Memory for changes of the last five minutes that slow clients have not received yet, in bytes; 0: 1/64 of the memory, 8 to 128 MiB.",
    0,
  ),
  columnBytes: bytes(
    0,
    "Heap size of the columns that lists sort, filter and group by, in bytes; 0: 1/8 of the heap limit, 32 to 512 MiB.",
    0,
  ),
  ringSize: Type.Integer({
    default: 0,
    minimum: 0,
    maximum: 10_000_000,
    description:
      "Number of recent record changes that are kept for internal readers, 74 bytes each; 0: 1/1024 of the memory, 1 to 5 MiB.",
  }),
  parallelLists: count(
    4,
    "Number of classes of a pool that are listed concurrently.",
  ),
  sliceMs: milliseconds(
    3,
    "Maximum time of one slice of work on the event loop, in ms.",
  ),
  persist: Type.Boolean({
    default: true,
    description:
      "Keep an encrypted copy of all objects in dataDir, so that they are available immediately after a restart; what is written is compressed in memory.",
  }),
  checkpointMs: milliseconds(
    5_000,
    "Interval at which changes are written to this copy, in ms.",
  ),
  keyFile: Type.String({
    default: "",
    description:
      "File with the encryption key of this copy, 64 hexadecimal digits, created if missing; empty: inventory.key in dataDir. $XO_INVENTORY_KEY takes precedence.",
  }),
  verifyIntervalMs: Type.Integer({
    default: 60_000,
    minimum: 0,
    // Limit of timers in Node.js.
    maximum: 2 ** 31 - 1,
    description:
      "Interval at which the objects of one class of one pool are compared with the pool, in ms; 0: never.",
  }),
});

const Stats = section("Metrics of hosts and VMs (RRDs).", {
  follow: Type.Boolean({
    default: true,
    description:
      "Poll all hosts continuously, so that metrics are available immediately and lists can be sorted by them. false: poll on demand.",
  }),
  intervalMs: Type.Integer({
    default: 5_000,
    minimum: 1_000,
    maximum: 600_000,
    description:
      "Polling interval per host while metrics are shown or watched, in ms; hosts measure every 5 s.",
  }),
  idleIntervalMs: Type.Integer({
    default: 60_000,
    minimum: 1_000,
    maximum: 600_000,
    description:
      "Polling interval per host while no client reads metrics, in ms. Alarm rules that must hold for 5 minutes or longer use it, too.",
  }),
  memoryBytes: bytes(
    0,
    "Memory for metrics, in bytes; determines how much history is kept. 0: 1/16 of the memory, 64 to 1024 MiB.",
    0,
  ),
});

const StoreSection = section(
  "Database of users, tokens, rights and the audit log.",
  {
    location: Type.String({
      default: "",
      description:
        "File (SQLite), or postgres://user:password@host/database for a database shared by several servers; empty: store.db in dataDir. $XO_STORE takes precedence.",
    }),
    keyFile: Type.String({
      default: "",
      description:
        "File with the encryption key of secrets in the database, created if missing; empty: store.key in dataDir. A key in $XO_STORE_KEY (32 bytes in base64) takes precedence.",
    }),
    pollMs: milliseconds(
      1_000,
      "Interval at which changes of other servers and of the command line are read, in ms.",
    ),
  },
);

const Backoff = section("Delays between attempts to connect to a pool.", {
  firstMs: milliseconds(500, "Maximum delay before the second attempt, in ms."),
  maxMs: milliseconds(
    10_000,
    "Maximum delay, in ms; the delay doubles with each attempt.",
  ),
  authMs: milliseconds(
    300_000,
    "Delay after a rejected password, in ms; avoids locking the account.",
  ),
});

const Xapi = section("Connections to pools (XAPI).", {
  transport: Type.Enum(transports, {
    default: "auto",
    description:
      "auto (the fastest that the pool supports), json-rpc, json-in-xml or xml-rpc. Can be set per pool.",
  }),
  throttleMs: Type.Integer({
    default: DEFAULT_THROTTLE_MS,
    minimum: 0,
    maximum: 60_000,
    description:
      "Delay between two event.from calls, in ms; the pool merges the changes in between.",
  }),
  connectTimeoutMs: milliseconds(
    30_000,
    "Timeout of establishing a connection, in ms.",
  ),
  callTimeoutMs: milliseconds(300_000, "Timeout of a call, in ms."),
  eventTimeoutMs: milliseconds(
    DEFAULT_EVENT_TIMEOUT_MS,
    "Timeout parameter of event.from, in ms: an idle pool is called this often.",
  ),
  eventGraceMs: milliseconds(
    DEFAULT_EVENT_GRACE_MS,
    "A pool that has not answered event.from this long after its timeout is reported as stale, and its coordinator is checked, in ms.",
  ),
  probeTimeoutMs: milliseconds(
    DEFAULT_PROBE_TIMEOUT_MS,
    "Timeout of this check, in ms; without an answer the other hosts of the pool are tried. With the defaults a silent coordinator is detected after 13 s and replaced after 18 s.",
  ),
  unreachableMs: milliseconds(
    60_000,
    "A call to a pool that cannot be reached ends with CALL_NOT_SENT after this time, in ms, and an action that was sent to it before with RESULT_UNKNOWN; the log reports it if it has arrived. Tasks that have begun, bulk operations and jobs wait for callTimeoutMs. An answer is waited for while the pool is reached.",
  ),
  maxConcurrentCalls: count(
    8,
    "Maximum number of concurrent calls to one pool.",
  ),
  maxQueuedCalls: count(10_000, "Maximum number of queued calls to one pool."),
  backoff: Backoff,
});

export const Config = Type.Object(
  {
    dataDir: Type.String({
      default: "./data",
      minLength: 1,
      description:
        "Directory of the server's own files (database, keys, certificate). A relative path is resolved against the working directory.",
    }),
    pools: Type.Array(PoolConfig, {
      default: [],
      description:
        "Pools to connect at start. Pools can also be added on the web page.",
    }),
    http: HttpConfig,
    log: Log,
    perf: Perf,
    parserPool: ParserPool,
    inventory: Inventory,
    stats: Stats,
    store: StoreSection,
    audit: AuditConfig,
    telemetry: TelemetryConfig,
    server: ServerConfig,
    auth: AuthConfig,
    ldap: LdapConfig,
    oidc: OidcConfig,
    saml: SamlConfig,
    xapi: Xapi,
    consoles: ConsoleConfig,
    mail: MailConfig,
    jobs: JobConfig,
    backups: BackupConfig,
    imports: ImportConfig,
    activity: ActivityConfig,
  },
  { additionalProperties: false },
);
export type Config = DeepReadonly<Static<typeof Config>>;

type DeepReadonly<T> = T extends object
  ? { readonly [K in keyof T]: DeepReadonly<T[K]> }
  : T;
