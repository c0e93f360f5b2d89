import type { WallClock } from "@xo-server/kit";
import type { Readable } from "node:stream";
import { XoError } from "@xo-server/model";
import type { ParserPool, XportTable } from "@xo-server/parser-pool";
import type { Xapi } from "@xo-server/xen-api";
import {
  answerLimit,
  type AnswerMemory,
  type AnswerPart,
} from "./answer-memory.js";
import { collectBody } from "./collect-body.js";

/** A host and how to request its metrics. */
export interface StatsHost {
  readonly id: string;
  /** UUID of its pool. */
  readonly pool: string;
  readonly address: string;
  readonly xapi: Pick<Xapi, "getStream">;
}

interface Measurements {
  /** Seconds between two rows: selects the archive. */
  readonly step: number;
  /** Seconds since the epoch; negative: relative to the last measurement. */
  readonly start: number;
  /** Number of rows since `start`, at most about: bounds the size of the answer. */
  readonly rows: number;
  /**
   * UUID of a single VM; or of the host, for the host without its VMs. Absent: the
   * host and all its VMs.
   */
  readonly only?: string;
  /** Key of the known legend. */
  readonly known?: string | undefined;
  readonly withinMs?: number;
}

export interface FetchParts {
  readonly parser: Pick<ParserPool, "readXport" | "readRrd">;
  readonly clock: WallClock;
  /** Shared by all that fetch. */
  readonly memory: AnswerMemory;
}

/** Maximum size of all archives of a VM, in bytes: 600 columns with 774 rows in three forms. */
const ARCHIVES_BYTES = 32 * 1024 * 1024;
const LONGEST_MS = 30_000;

/**
 * Metrics of a host, its VMs and its SRs. Hosts that do not support the
 * selection of one object return all of them.
 * @throws XoError CALL_TIMEOUT, ANSWER_TOO_LARGE, BAD_ANSWER, HTTP_STATUS and
 *   those of the connection
 */
export async function fetchMeasurements(
  host: StatsHost,
  { only, ...requested }: Measurements,
  parts: FetchParts,
): Promise<XportTable> {
  if (only === undefined) return fetchTable(host, requested, parts);
  return fetchTable(host, { ...requested, only }, parts).catch(
    (error: unknown) => {
      const isRefused =
        error instanceof XoError && error.code === "HTTP_STATUS";
      if (isRefused) return fetchTable(host, requested, parts);
      throw error;
    },
  );
}

async function fetchTable(
  { id, address, xapi }: StatsHost,
  { step, start, rows, only, known, withinMs = LONGEST_MS }: Measurements,
  parts: FetchParts,
): Promise<XportTable> {
  const query = {
    cf: "AVERAGE",
    host: "true",
    json: "true",
    interval: String(step),
    start: String(start),
    ...(only === undefined ? {} : { vm_uuid: only }),
  };
  const whole = only === undefined ? "host and VMs" : "VM";
  const scope = only === id ? "host" : whole;
  return fetchWithin(
    {
      open: (signal) =>
        xapi.getStream({ path: "/rrd_updates", query, host: address, signal }),
      decode: (body) => parts.parser.readXport(body, id, known),
    },
    { method: "rrd_updates", ms: withinMs, bytes: answerLimit(scope, rows) },
    parts,
  );
}

/**
 * All archives of a halted VM from the pool's coordinator, finest first.
 * @throws XoError HTTP_STATUS (404: there are none), and as above
 */
export async function fetchArchives(
  uuid: string,
  xapi: StatsHost["xapi"],
  parts: FetchParts,
): Promise<readonly XportTable[]> {
  const query = { uuid, json: "true" };
  return fetchWithin(
    {
      open: (signal) => xapi.getStream({ path: "/vm_rrd", query, signal }),
      decode: (body) => parts.parser.readRrd(body, uuid),
    },
    { method: "vm_rrd", ms: LONGEST_MS, bytes: ARCHIVES_BYTES },
    parts,
  );
}

interface Request<Result> {
  readonly open: (
    signal: AbortSignal,
  ) => Promise<Pick<Response, "body" | "headers">>;
  readonly decode: (
    body: readonly Uint8Array<ArrayBuffer>[],
  ) => Promise<Result>;
}

interface Response {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readable;
}

interface Limits {
  readonly method: string;
  readonly ms: number;
  readonly bytes: number;
}

async function fetchWithin<Result>(
  { open, decode }: Request<Result>,
  limits: Limits,
  { clock, memory }: Pick<FetchParts, "clock" | "memory">,
): Promise<Result> {
  let response: Response | undefined;
  const part = memory.open(limits.bytes, (error) => {
    response?.body.destroy(error);
  });
  try {
    const body = await collectWithin(
      async (signal) => (response = await open(signal)),
      limits,
      part,
      clock,
    );
    return await decode(body);
  } finally {
    part.release();
  }
}

async function collectWithin(
  open: (signal: AbortSignal) => Promise<Response>,
  { method, ms, bytes: limit }: Limits,
  part: AnswerPart,
  clock: WallClock,
): Promise<readonly Uint8Array<ArrayBuffer>[]> {
  const abort = new AbortController();
  const timer = clock.setTimeout(() => {
    abort.abort();
  }, ms);
  try {
    const { body, headers } = await open(abort.signal);
    const bytes = Number(headers["content-length"] ?? 0);
    if (bytes > limit) {
      body.destroy();
      throw new XoError("ANSWER_TOO_LARGE", { bytes, limit });
    }
    const parts = await collectBody(body, part);
    // A body without a length looks complete when its connection is closed.
    abort.signal.throwIfAborted();
    return parts;
  } catch (error) {
    if (!abort.signal.aborted) throw error;
    throw new XoError("CALL_TIMEOUT", { method, ms }, error);
  } finally {
    clock.clearTimeout(timer);
  }
}
