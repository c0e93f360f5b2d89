import { Session, type Profiler } from "node:inspector";
import { PassThrough } from "node:stream";
import { pause, type WallClock } from "@xo-server/kit";
import { XoError } from "@xo-server/model";
import type { OpenDownload } from "../transfers/transfer.js";

/** Interval of the samples, in µs. */
const SAMPLE_INTERVAL_US = 1_000;

/**
 * Records CPU profiles of the main thread, one at a time. A profile contains names
 * and source positions of functions, but no data.
 */
export class CpuProfiler {
  readonly #clock: WallClock;
  #isRecording = false;

  constructor(clock: WallClock) {
    this.#clock = clock;
  }

  /**
   * Starts to record. The body ends after the recording; when its reader disconnects,
   * the recording ends too.
   * @throws XoError TOO_MANY_REQUESTS
   */
  record(ms: number): OpenDownload {
    if (this.#isRecording)
      throw new XoError("TOO_MANY_REQUESTS", {
        reason: "a CPU profile is being recorded",
      });
    this.#isRecording = true;
    const body = new PassThrough();
    const closed = new AbortController();
    body.once("close", () => {
      closed.abort();
    });
    this.#record(ms, closed.signal).then(
      (profile) => body.end(JSON.stringify(profile)),
      (error: Error) => body.destroy(error),
    );
    return { type: "application/json", body };
  }

  async #record(ms: number, signal: AbortSignal): Promise<Profiler.Profile> {
    const session = new Session();
    session.connect();
    try {
      session.post("Profiler.enable");
      session.post("Profiler.setSamplingInterval", {
        interval: SAMPLE_INTERVAL_US,
      });
      session.post("Profiler.start");
      await pause(this.#clock, ms, signal);
      return await stopProfiler(session);
    } finally {
      session.disconnect();
      this.#isRecording = false;
    }
  }
}

function stopProfiler(session: Session): Promise<Profiler.Profile> {
  return new Promise((resolve, reject) => {
    session.post("Profiler.stop", (error, { profile }) => {
      if (error === null) resolve(profile);
      else reject(error);
    });
  });
}
