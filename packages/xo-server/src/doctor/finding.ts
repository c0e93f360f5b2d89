export type FindingStatus = "ok" | "warning" | "error" | "skipped";

/** What was checked, and what to do if it is not in order. */
export interface Finding {
  /** Area: `config`, `store`, `pool Paris`. */
  readonly check: string;
  readonly status: FindingStatus;
  readonly message: string;
  /** What to do. Absent if all is well. */
  readonly remedy?: string;
}

/** The result of a check, without its area. */
export type Result = Omit<Finding, "check">;

export const ok = (message: string): Result => ({ status: "ok", message });
export const skipped = (message: string): Result => ({
  status: "skipped",
  message,
});
export const warning = (message: string, remedy: string): Result => ({
  status: "warning",
  message,
  remedy,
});
export const failed = (message: string, remedy: string): Result => ({
  status: "error",
  message,
  remedy,
});
