import { createRandom, type Random } from "../random.js";
import { XapiFailure } from "../xapi-failure.js";
import type { XapiValue } from "../xapi-value.js";

/**
 * How a pool behaves over time. `calm`: every operation takes its usual time
 * and succeeds. `busy`: two to five times as long. `flaky`: up to twice as
 * long, some of a hundred operations fail, and members disconnect and
 * reconnect.
 */
export type FailureProfileName = "calm" | "busy" | "flaky";

interface FailureProfileSettings {
  /** Durations are multiplied by a number between these. */
  readonly slowest: number;
  readonly fastest: number;
  /** Percentage of operations that fail. */
  readonly failures: number;
  /** Seconds between a member's absence and the next; 0: never. */
  readonly outageEvery: number;
}

export const failureProfiles: Readonly<
  Record<FailureProfileName, FailureProfileSettings>
> = {
  calm: { slowest: 1, fastest: 1, failures: 0, outageEvery: 0 },
  busy: { slowest: 5, fastest: 2, failures: 0, outageEvery: 0 },
  flaky: { slowest: 2, fastest: 1, failures: 4, outageEvery: 120 },
};

/** Decides, from a seed, how long things take and which of them fail. */
export class FailureProfile {
  readonly outageEvery: number;
  readonly #profile: FailureProfileSettings;
  readonly #pace: number;
  readonly #random: Random;

  /** @param pace factor of durations; 0: everything completes immediately */
  constructor(name: FailureProfileName, pace: number, seed: number) {
    this.#profile = failureProfiles[name];
    this.outageEvery = this.#profile.outageEvery;
    this.#pace = pace;
    // Another stream than the pool's: what fails does not change what is made.
    this.#random = createRandom(seed ^ 0x5eed);
  }

  /** Milliseconds that something of `ms` takes here and now. */
  duration(ms: number): number {
    const { slowest, fastest } = this.#profile;
    if (slowest === fastest) return ms * this.#pace * slowest;
    const factor = fastest + (slowest - fastest) * this.#random.next();
    return ms * this.#pace * factor;
  }

  /** The failure that an operation meets, or undefined: most meet none. */
  randomFailure(
    className: string,
    params: readonly XapiValue[],
  ): XapiFailure | undefined {
    const { failures } = this.#profile;
    if (failures === 0 || this.#random.next() * 100 >= failures)
      return undefined;
    const kinds = [...(failuresByClass[className] ?? []), ...generalFailures];
    const kind = kinds[this.#random.integer(kinds.length)]!;
    const object = params[0];
    return kind(typeof object === "string" ? object : "");
  }

  /** A number below `limit` from the same stream. */
  pick(limit: number): number {
    return this.#random.integer(limit);
  }
}

type FailureFactory = (object: string) => XapiFailure;

/** From memory of what hosts log on bad days. */
const generalFailures: readonly FailureFactory[] = [
  () =>
    new XapiFailure("INTERNAL_ERROR", [
      "Jsonrpc_client.Timeout", // xapi gave up on xenopsd
    ]),
];

const storageFailures: readonly FailureFactory[] = [
  () =>
    new XapiFailure("SR_BACKEND_FAILURE_46", [
      "",
      "The VDI is not available [opterr=VDI is already attached RW]",
      "",
    ]),
  () =>
    new XapiFailure("SR_BACKEND_FAILURE_181", [
      "",
      "Error in Metadata volume operation for SR. [opterr=VDI delete operation failed]",
      "",
    ]),
];

const failuresByClass: Readonly<Record<string, readonly FailureFactory[]>> = {
  VM: [
    storageFailures[0]!,
    (vm) =>
      new XapiFailure("INTERNAL_ERROR", [
        `xenopsd internal error: Xenops_interface.Xenopsd_error([S(Internal_error);S(Device_model timed out for ${vm})])`,
      ]),
    (vm) =>
      new XapiFailure("VM_MIGRATE_FAILED", [
        vm,
        "OpaqueRef:NULL",
        "OpaqueRef:NULL",
        "The VM has failed to migrate: the connection was reset",
      ]),
  ],
  VDI: storageFailures,
  SR: storageFailures,
  VBD: storageFailures,
  PBD: [
    () =>
      new XapiFailure("SR_BACKEND_FAILURE_73", [
        "",
        "NFS mount error [opterr=mount failed with return code 32]",
        "",
      ]),
  ],
};
