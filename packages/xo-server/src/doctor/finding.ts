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
