import { measureInChild } from "../harness/child.js";
import type { Figures } from "../harness/figures.js";
import type { DownloadJob } from "../measure/download-job.js";
import type { LoadJob } from "../measure/load-job.js";
import type { PeerJob } from "../measure/peer-job.js";
import type { OpenPool } from "./pool-source.js";
import type { Row } from "./row.js";

/** The 2016 way needs 20 s for pool A on a free machine. */
const TIMEOUT_MS = 180_000;

/**
 * Answers under way at a time in the download rows: as many as the inventory's
 * reflector lists at a time.
 */
const CONNECTIONS = 4;

/** One run of one row in a fresh process. */
export function measureRow(row: Row, open: OpenPool): Promise<Figures> {
  const { kind, place } = row;
  const pool = row.legacy === true ? open.legacy : open.pool;
  if (pool === undefined) throw new Error("this pool has no legacy twin");
  switch (kind.program) {
    case "download": {
      const job: DownloadJob = {
        pool,
        way: kind.way,
        connections: CONNECTIONS,
      };
      return measureInChild({
        program: "measure/download.js",
        job,
        timeoutMs: TIMEOUT_MS,
      });
    }
    case "peer": {
      const job: PeerJob = { pool, transport: kind.transport };
      return measureInChild({
        program: "measure/peer.js",
        job,
        timeoutMs: TIMEOUT_MS,
      });
    }
    case "ours": {
      const job: LoadJob = {
        pools: [pool],
        transport: kind.transport,
        xml: kind.xml,
        place,
      };
      return measureInChild({
        program: "measure/load.js",
        job,
        timeoutMs: TIMEOUT_MS,
      });
    }
  }
}
