import { DEFAULT_THROTTLE_MS } from "@xo-server/xen-api";
import { Type, type Static } from "typebox";
import { logFormats, logLevels } from "../log/logger.js";
import { ActivityConfig } from "./activity-config.js";
import { bytes, count, milliseconds, section } from "./config-parts.js";
import { ConsoleConfig } from "./console-config.js";
import { HttpConfig } from "./http-config.js";
import { JobConfig } from "./job-config.js";
import { LdapConfig } from "./ldap-config.js";
import { MailConfig } from "./mail-config.js";
import { OidcConfig } from "./oidc-config.js";
import { PoolConfig, transports } from "./pool-config.js";

/**
 * Every key of the config, its default and its one comment. config.yaml.example
 * is this schema written out; a test compares the two.
 */

const MIB = 1024 * 1024;

const Log = section("What is logged, and how.", {
  format: Type.Enum(logFormats, {
    default: "console",
    description: "console (for people) or json (one object a line).",
  }),
  level: Type.Enum(logLevels, {
    default: "info",
    description: "debug, info, warn, error or silent.",
  }),
});

const Perf = section("The detector of event-loop blocks (xo:perf lines).", {
  thresholdMs: milliseconds(50, "Blocks longer than this are logged."),
  probeMs: milliseconds(20, "Interval of the timer that notices a block."),
  traceBlocks: Type.Boolean({
    default: false,
    description:
      "Log the stack that blocked. Costs much (async hooks): for a search, not for every day.",
  }),
});

const ParserPool = section(
  "The worker threads that read what the pools answer.",
  {
    place: Type.Enum(["auto", "worker", "main"], {
      default: "auto",
      description:
        "Where: auto (small messages in place, others in a thread), worker (all in threads) or main (no threads, for comparison).",
    }),
    xml: Type.Enum(["reader", "expat", "xmlrpc"], {
      default: "reader",
      description:
        "How XML is read: reader (our own, fastest), expat (optional native package, on the main thread only) or xmlrpc (the plain way).",
    }),
    minThreads: Type.Integer({
      default: 1,
      minimum: 0,
      maximum: 256,
      description: "Threads kept when there is nothing to do.",
    }),
    maxThreads: Type.Integer({
      default: 0,
      minimum: 0,
      maximum: 256,
      description: "Threads at most; 0: one less than there are processors.",
    }),
    idleTimeoutMs: milliseconds(
      30_000,
      "A thread without work for this long ends.",
    ),
    inlineBelowBytes: bytes(
      128 * 1024,
      "With place auto: smaller messages are read in place, the way to a thread would cost more.",
      0,
    ),
    segmentBytes: bytes(
      MIB,
      "Size of the pieces in which a big answer is read, in bytes.",
      4096,
    ),
    maxBodyBytes: bytes(1024 * MIB, "Answer of a pool at most, in bytes.", MIB),
    maxDepth: count(512, "Nesting of an answer at most, in levels."),
    queueLimit: count(10_000, "Pieces waiting for a thread at most."),
  },
);

const Inventory = section("The mirror of all pools.", {
  recordCacheBytes: bytes(
    0,
    "Heap for records that were read lately, in bytes; 0: 1/16 of the heap's limit, 16 to 256 MiB.",
    0,
  ),
  viewCacheBytes: bytes(
    0,
    "Memory for objects as clients get them, in bytes; 0: 1/8 of the memory, 32 to 1024 MiB.",
    0,
  ),
  feedBytes: bytes(
    0,
    "Memory for the changes that clients who were away get, in bytes; 0: 1/64 of the memory, 8 to 128 MiB.",
    0,
  ),
  columnBytes: bytes(
    0,
    "Heap for what lists sort, filter and group by, in bytes; 0: 1/8 of the heap's limit, 32 to 512 MiB.",
    0,
  ),
  ringSize: Type.Integer({
    default: 0,
    minimum: 0,
    maximum: 10_000_000,
    description:
      "Changes of records remembered within the server, 74 bytes each; 0: 1/1024 of the memory, 1 to 5 MiB.",
  }),
  parallelLists: count(4, "Classes of a pool that are listed at a time."),
  sliceMs: milliseconds(
    3,
    "How long the event loop is held in one turn, whatever comes in.",
  ),
  remember: Type.Boolean({
    default: true,
    description:
      "Keep all objects on disk, encrypted, in dataDir: they are there at once after a restart.",
  }),
  checkpointMs: milliseconds(
    5_000,
    "What changed is written to disk so often; nothing while nothing changes.",
  ),
  keyFile: Type.String({
    default: "",
    description:
      "File with the key that they are encrypted with, 64 hexadecimal digits, made if it is not there; empty: inventory.key in dataDir. $XO_INVENTORY_KEY goes before.",
  }),
});

const Stats = section("What hosts measure of themselves and their VMs.", {
  follow: Type.Boolean({
    default: true,
    description:
      "Ask all hosts all the time: figures are there at once, and lists can be sorted by them. false: when somebody wants to know.",
  }),
  intervalMs: Type.Integer({
    default: 5_000,
    minimum: 1_000,
    maximum: 600_000,
    description: "Each host is asked so often; hosts measure every 5 s.",
  }),
  memoryBytes: bytes(
    0,
    "Memory for measurements, in bytes; with little of it less of the past is kept. 0: 1/16 of the memory, 64 to 1024 MiB.",
    0,
  ),
});

const StoreSection = section(
  "Where users, tokens, rights and the audit log are kept.",
  {
    location: Type.String({
      default: "",
      description:
        "A file (SQLite), or postgres://user:password@host/database for a database that servers share; empty: store.db in dataDir. $XO_STORE goes before.",
    }),
    keyFile: Type.String({
      default: "",
      description:
        "File with the key that secrets in it are encrypted with, made if it is not there; empty: store.key in dataDir. A key in $XO_STORE_KEY (32 bytes in base64) goes before.",
    }),
    pollMs: milliseconds(
      1_000,
      "How often it looks for changes of other servers, and of the command line.",
    ),
  },
);

const Backoff = section("Pauses between tries to reach a pool.", {
  firstMs: milliseconds(500, "Before the second try at most."),
  maxMs: milliseconds(
    30_000,
    "Any pause at most; each is twice the one before.",
  ),
  authMs: milliseconds(
    300_000,
    "After a refused password: a locked account helps nobody.",
  ),
});

const Xapi = section("How pools are spoken to.", {
  transport: Type.Enum(transports, {
    default: "auto",
    description:
      "auto (the best that the pool speaks), json-rpc, json-in-xml or xml-rpc; a pool may differ.",
  }),
  throttleMs: Type.Integer({
    default: DEFAULT_THROTTLE_MS,
    minimum: 0,
    maximum: 60_000,
    description:
      "Pause between two answers with changes: the pool merges changes meanwhile.",
  }),
  connectTimeoutMs: milliseconds(30_000, "A connection is given up after."),
  callTimeoutMs: milliseconds(300_000, "A call without an answer fails after."),
  eventTimeoutMs: milliseconds(
    45_000,
    "A poll for events waits this long for a change.",
  ),
  maxConcurrentCalls: count(8, "Calls to one pool at the same time at most."),
  maxQueuedCalls: count(
    10_000,
    "Calls to one pool waiting for their turn at most.",
  ),
  backoff: Backoff,
});

export const Config = Type.Object(
  {
    dataDir: Type.String({
      default: "./data",
      minLength: 1,
      description:
        "Where the server keeps its own files. Relative to where it is started.",
    }),
    http: HttpConfig,
    log: Log,
    perf: Perf,
    parserPool: ParserPool,
    inventory: Inventory,
    stats: Stats,
    store: StoreSection,
    ldap: LdapConfig,
    oidc: OidcConfig,
    xapi: Xapi,
    consoles: ConsoleConfig,
    mail: MailConfig,
    jobs: JobConfig,
    activity: ActivityConfig,
    pools: Type.Array(PoolConfig, {
      default: [],
      description: "The pools to connect. None: the server starts empty.",
    }),
  },
  { additionalProperties: false },
);
export type Config = DeepReadonly<Static<typeof Config>>;

export type DeepReadonly<T> = T extends object
  ? { readonly [K in keyof T]: DeepReadonly<T[K]> }
  : T;
