import type { WallClock } from "@xo-server/kit";
import type { Readable } from "node:stream";
import { XoError } from "@xo-server/model";
import type { ParserPool, XportTable } from "@xo-server/parser-pool";
import type { Xapi } from "@xo-server/xen-api";
import { collectBody } from "./collect-body.js";

/** A host and how to request its metrics. */
export interface StatsHost {
  readonly id: string;
  /** UUID of its pool. */
  readonly pool: string;
  readonly address: string;
  readonly xapi: Pick<Xapi, "getStream">;
}

export interface Measurements {
  /** Seconds between two rows: selects the archive. */
  readonly step: number;
  /** Seconds since the epoch; negative: relative to the last measurement. */
  readonly start: number;
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
}

/**
 * Maximum size of a response, in bytes: 1,000 VMs of a host with 30 columns each,
 * for 366 days, are 240 MB.
 */
const LARGEST_BODY = 256 * 1024 * 1024;
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
  { step, start, only, known, withinMs = LONGEST_MS }: Measurements,
  { parser, clock }: FetchParts,
): Promise<XportTable> {
  const query = {
    cf: "AVERAGE",
    host: "true",
    json: "true",
    interval: String(step),
    start: String(start),
    ...(only === undefined ? {} : { vm_uuid: only }),
  };
  const body = await collectWithin(
    (signal) =>
      xapi.getStream({ path: "/rrd_updates", query, host: address, signal }),
    { method: "rrd_updates", ms: withinMs },
    clock,
  );
  return parser.readXport(body, id, known);
}

/**
 * All archives of a halted VM from the pool's coordinator, finest first.
 * @throws XoError HTTP_STATUS (404: there are none), and as above
 */
export async function fetchArchives(
  uuid: string,
  xapi: StatsHost["xapi"],
  { parser, clock }: FetchParts,
): Promise<readonly XportTable[]> {
  const query = { uuid, json: "true" };
  const body = await collectWithin(
    (signal) => xapi.getStream({ path: "/vm_rrd", query, signal }),
    { method: "vm_rrd", ms: LONGEST_MS },
    clock,
  );
  return parser.readRrd(body, uuid);
}

async function collectWithin(
  open: (signal: AbortSignal) => Promise<{ readonly body: Readable }>,
  { method, ms }: { readonly method: string; readonly ms: number },
  clock: WallClock,
): Promise<readonly Uint8Array<ArrayBuffer>[]> {
  const abort = new AbortController();
  const timer = clock.setTimeout(() => {
    abort.abort();
  }, ms);
  try {
    const { body } = await open(abort.signal);
    return await collectBody(body, LARGEST_BODY);
  } catch (error) {
    if (!abort.signal.aborted) throw error;
    throw new XoError("CALL_TIMEOUT", { method, ms }, error);
  } finally {
    clock.clearTimeout(timer);
  }
}
