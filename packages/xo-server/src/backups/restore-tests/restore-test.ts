import { randomUUID } from "node:crypto";

/** Parameters of a restore test. Ids are those that clients use. */
interface RestoreTestSpec {
  /** `<repository>/<backup>` */
  readonly id: string;
  /** SR of the disks; the VM is started in its pool. */
  readonly sr: string;
  /** `closed`: a network to which only this VM is attached; `none`: without interfaces. */
  readonly network: "closed" | "none";
  /** Time in which the guest must report, in ms. */
  readonly bootTimeout: number;
}

/** Persisted state, from which everything that the test has created can be deleted. */
export interface RestoreTestState {
  readonly spec: RestoreTestSpec;
  /** Unique: the name of the VM and of its network. */
  readonly token: string;
}

/** What has reported: the guest tools, or a script of the guest via xenstore. */
export type TestMethod = "tools" | "script";

/** Times in milliseconds. */
export interface RestoreTestReport {
  readonly success: boolean;
  readonly method?: TestMethod;
  /** Time until the guest reported; absent: it did not. */
  readonly bootMs?: number;
  /** Duration of the whole test. */
  readonly durationMs: number;
  /** Whether a screenshot of the console was taken. */
  readonly hasScreenshot?: boolean;
  readonly error?: string;
}

/** Default of `bootTimeout`. */
export const BOOT_MS = 600_000;

/** State of a test, persisted before the first call. The token marks all objects that it creates. */
export function newTest(spec: RestoreTestSpec): RestoreTestState {
  return { spec, token: `[restore test ${randomUUID()}]` };
}

/** Names of VMs and networks of restore tests, as a regular expression of filters. */
export const TEST_NAMES = "/^\\[restore test [0-9a-f-]{36}\\]$/";
