import { XoError } from "@xo-server/model";
import type { ParserPool, XportTable } from "@xo-server/parser-pool";
import type { Xapi } from "@xo-server/xen-api";
import type { Clock } from "../clock.js";
import { collectBody } from "./collect-body.js";

/** A host to ask. */
export interface StatsHost {
  readonly id: string;
  readonly address: string;
  readonly xapi: Pick<Xapi, "getStream">;
}

export interface Measurements {
  /** Between two rows, in s: the archive that is asked. */
  readonly step: number;
  /** In s since 1970; negative: before the last measurement. */
  readonly start: number;
}

export interface FetchParts {
  readonly parser: Pick<ParserPool, "readXport">;
  readonly clock: Clock;
}

/** 1,000 VMs of a host with 30 columns each, for 366 days: 240 MB. */
const LARGEST_BODY = 256 * 1024 * 1024;
const LONGEST_MS = 30_000;

/**
 * What a host has measured of itself and of its VMs, with the SRs' input and
 * output as it sees them.
 * @throws XoError CALL_TIMEOUT, ANSWER_TOO_LARGE, BAD_ANSWER, HTTP_STATUS and those of the connection
 */
export async function fetchMeasurements(
  { id, address, xapi }: StatsHost,
  { step, start }: Measurements,
  { parser, clock }: FetchParts,
): Promise<XportTable> {
  const abort = new AbortController();
  const timer = clock.setTimeout(() => {
    abort.abort();
  }, LONGEST_MS);
  try {
    const { body } = await xapi.getStream({
      path: "/rrd_updates",
      query: {
        ...{ cf: "AVERAGE", host: "true", json: "true" },
        interval: String(step),
        start: String(start),
      },
      host: address,
      signal: abort.signal,
    });
    return await parser.readXport(await collectBody(body, LARGEST_BODY), id);
  } catch (error) {
    if (!abort.signal.aborted) throw error;
    const data = { method: "rrd_updates", ms: LONGEST_MS };
    throw new XoError("CALL_TIMEOUT", data, error);
  } finally {
    clock.clearTimeout(timer);
  }
}
