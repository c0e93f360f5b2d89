/** A change that was started and has no entry in the audit log yet. */
export interface AuditPendingRow {
  id: string;
  /** The server that makes the change. */
  owner: string;
  begun_at: number;
  entry_json: string;
}

export interface AuditRow {
  /** 1, 2, 3 ... without gaps. */
  seq: number;
  time: number;
  user_id: string | null;
  user_name: string | null;
  address: string | null;
  operation: string;
  object_id: string | null;
  parameters_json: string;
  outcome: string;
  error_code: string | null;
  task_id: string | null;
  /** Hash of the previous row, and of this row. */
  previous: string;
  hash: string;
}

/** `head`: the last row, authenticated so that the log cannot be truncated; `start`: the last pruned row. */
export interface AuditHeadRow {
  id: string;
  seq: number;
  hash: string;
  seal: string;
}

/** Position of a target to which the audit log is forwarded. */
export interface AuditForwardRow {
  /** Name of the target in the configuration. */
  id: string;
  /** The server that forwards. */
  owner: string;
  /** The last entry that the target has received. */
  seq: number;
  /** Last heartbeat of the owner; 0: released. */
  seen_at: number;
}
