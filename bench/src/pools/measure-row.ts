import { measureInChild } from "../harness/child.js";
import type { Figures } from "../harness/figures.js";
import type { PoolAddress } from "../harness/simulator.js";
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

/** Which program measures a row, and its input. */
interface Assignment {
  readonly program: string;
  readonly job: DownloadJob | PeerJob | LoadJob;
}

/**
 * One run of one row in a new process.
 * @param profile folder for its CPU profiles, if requested
 */
export function measureRow(
  row: Row,
  open: OpenPool,
  profile?: string,
): Promise<Figures> {
  const pool = row.legacy === true ? open.legacy : open.pool;
  if (pool === undefined) throw new Error("this pool has no legacy twin");
  return measureInChild({
    ...assign(row, pool),
    timeoutMs: TIMEOUT_MS,
    nodeOptions:
      profile === undefined
        ? []
        : [
            "--cpu-prof",
            "--cpu-prof-interval=200",
            `--cpu-prof-dir=${profile}`,
          ],
  });
}

function assign({ kind, place }: Row, pool: PoolAddress): Assignment {
  switch (kind.program) {
    case "download":
      return {
        program: "measure/download.js",
        job: { pool, way: kind.way, connections: CONNECTIONS },
      };
    case "peer":
      return {
        program: "measure/peer.js",
        job: { pool, transport: kind.transport },
      };
    case "ours":
      return {
        program: "measure/load.js",
        job: { pools: [pool], transport: kind.transport, xml: kind.xml, place },
      };
  }
}
