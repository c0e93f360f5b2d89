/** An object that matches the condition of a rule, or an event. */
export interface Match {
  /** Unique per rule: id of an object, message or task. */
  readonly key: string;
  /** Id of the object concerned, if known. */
  readonly objectId?: string;
  readonly type: string;
  readonly name: string;
  /** Id of the pool connection. */
  readonly pool?: string;
  /** Value of the metric. */
  readonly value?: number;
  /** Text of a message or a failed task. */
  readonly text?: string;
}

/** Receives the results of evaluating a condition. */
export interface MatchHandler {
  /** The condition is met. Called again when the value changes. */
  matched(match: Match): void;
  /** The value is between the threshold and the clear threshold. */
  inHysteresis(match: Match): void;
  /** The condition is no longer met, or the object is no longer known. */
  cleared(key: string): void;
  /**
   * An event without a duration.
   * @param at ms since the epoch
   */
  occurred(match: Match, at: number): void;
}

/** State of an alarm whose object does not match now. elsewhere: another server evaluates it. */
export type UnmatchedState = "ended" | "unknown" | "elsewhere";

/** Evaluates a condition continuously. */
export interface ConditionWatcher {
  /** State of a key that does not match now. */
  unmatchedState(key: string, match: Match): UnmatchedState;
  stop(): void;
}
