export type FindingStatus = "ok" | "warning" | "error" | "skipped";

/** The result of a check, and a remedy if it found a problem. */
export interface Finding {
  /** Area: `config`, `store`, `pool Paris`. */
  readonly check: string;
  readonly status: FindingStatus;
  readonly message: string;
  /** Absent if there is no problem. */
  readonly remedy?: string;
}

/** The result of a check, without its area. */
export type Result = Omit<Finding, "check">;

/** A check that found no problem. */
export const ok = (message: string): Result => ({ status: "ok", message });
/** A check that could not be made. @param message why */
export const skipped = (message: string): Result => ({
  status: "skipped",
  message,
});
/** A problem with which the server works. @param remedy what the administrator should do */
export const warning = (message: string, remedy: string): Result => ({
  status: "warning",
  message,
  remedy,
});
/** A problem that keeps the server, or a part of it, from working. @param remedy what the administrator has to do */
export const failed = (message: string, remedy: string): Result => ({
  status: "error",
  message,
  remedy,
});
