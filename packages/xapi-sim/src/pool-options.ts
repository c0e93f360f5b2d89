import type { SimulatorClock } from "./clock.js";
import type { ProfileName } from "./fleet/profiles.js";
import type { HttpHandler } from "./http-handler.js";
import type { TlsIdentity } from "./listener.js";
import type { OperationTable } from "./operation.js";
import type { Origin } from "./origin.js";
import type { FailureProfileName } from "./faults/failure-profile.js";
import type { UpdateSystem } from "./updates/update-package.js";
import type { FleetObject } from "./xapi-value.js";

/** How a simulated pool is to be. All optional: a pool of profile C on any port of 127.0.0.1. */
export interface PoolOptions {
  /** Name of the pool; default: the profile's. */
  readonly name?: string;
  /** A (64 hosts, 5,000 VMs), B (16, 600), C (3, 60) or host (one without VMs, shared SRs, bond or VLANs). Default C. */
  readonly profile?: ProfileName;
  /** Instead of the profile's. */
  readonly hosts?: number;
  readonly vms?: number;
  /** Brand and version of the hosts, and with them how they are updated. Default: the profile's. */
  readonly system?: UpdateSystem;
  /** The same seed gives the same pool. Default 1. */
  readonly seed?: number;
  /**
   * Objects instead of a generated fleet; must contain a pool and its hosts.
   */
  readonly fleet?: Iterable<FleetObject>;
  /** Instead of objects: where the pool has them from. It answers listings in JSON only. */
  readonly origin?: Origin;
  /** How long things take and how many fail; by the seed, so reproducible. Default calm: no failures. */
  readonly failureProfile?: FailureProfileName;
  /** Factor of the durations of operations; 0: everything completes immediately. Default 1. */
  readonly pace?: number;
  /** Changes a second. Default 0. */
  readonly churn?: number;
  /** Bytes a second that some of the running guests write to their disks. Default 0. */
  readonly guestWrites?: number;
  /** Default 127.0.0.1. */
  readonly host?: string;
  /** Default 0: any free port. */
  readonly port?: number;
  /** How many members besides the coordinator have a listener of their own, no more than there are hosts. Default 0. */
  readonly members?: number;
  /** true: a certificate is made. Default: plain HTTP. */
  readonly tls?: boolean | TlsIdentity;
  /** /json answers one string of JSON in XML-RPC, as XenServer 6 and 7 did. Default false: plain XML-RPC, as today. */
  readonly legacyJson?: boolean;
  /** There is no /jsonrpc: by the prefix rule it is XML-RPC. Default false. */
  readonly noJsonRpc?: boolean;
  /** Default root and "password". */
  readonly user?: string;
  readonly password?: string;
  /** What a wrong password costs. Default 2000, as PAM. */
  readonly refusalMs?: number;
  /** Formats in which all listings are serialised before the pool is ready. Default both. */
  readonly prepare?: readonly ("json" | "xml")[];
  /** Where the data that is written to disks is stored while the pool runs. Default: the system's folder for temporary files. */
  readonly temporaryFolder?: string;
  readonly clock?: SimulatorClock;
  /** Effects and handlers beyond or instead of the simulator's own. */
  readonly operations?: OperationTable;
  readonly httpHandlers?: readonly HttpHandler[];
}
